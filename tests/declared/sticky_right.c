#include "threads.h"
static void *use(void *argument) {
  const int *table = (const int *)argument;
  int i, sum = 0;
  for (i = 0; i < 3000; i++) sum += table[i];
  if (sum != 2999 * 1500) exit(4);
  return NULL;
}
static void *fill(void *argument) {
  int *table = (int *)argument;
  int i;
  weir_acquire_write(table);
  for (i = 0; i < 3000; i++) table[i] = i;
  weir_release_write(table);
  return NULL;
}
int main(void) {
  int *table = (int *)weir_alloc(3000 * sizeof *table, WEIR_INACCESSIBLE);
  pthread_t a, b;
  alone(fill, table);
  weir_set_sticky_read(table);
  a = begin(use, table);
  b = begin(use, table);
  use(table);
  end(a);
  end(b);
  return ok();
}
