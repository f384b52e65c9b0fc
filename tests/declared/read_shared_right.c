#include "threads.h"
static void *use(void *argument) {
  const int *table = (const int *)argument;
  int i, sum = 0;
  weir_acquire_read(table);
  for (i = 0; i < 5000; i++) sum += table[i];
  weir_release_read(table);
  if (sum != 4999 * 2500) exit(4);
  return NULL;
}
int main(void) {
  int *table = (int *)weir_alloc(5000 * sizeof *table, WEIR_PRIVATE);
  pthread_t threads[4];
  int i, round;
  for (round = 0; round < 3; round++) {
    for (i = 0; i < 5000; i++) table[i] = i;
    weir_acquire_read(table);
    for (i = 0; i < 4; i++) threads[i] = begin(use, table);
    for (i = 0; i < 4; i++) end(threads[i]);
    weir_acquire_write(table);
  }
  weir_free(table);
  return ok();
}
