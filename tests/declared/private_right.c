#include "threads.h"
static void *use(void *argument) {
  int *mine = (int *)weir_alloc(100 * sizeof(int), WEIR_PRIVATE);
  int *given = (int *)argument;
  int i;
  for (i = 0; i < 100; i++) mine[i] = i;
  weir_acquire_write(given);
  *given += mine[99];
  weir_release_write(given);
  weir_free(mine);
  return NULL;
}
int main(void) {
  int *given = (int *)weir_alloc(sizeof *given, WEIR_PRIVATE);
  *given = 1;
  weir_release_write(given);
  alone(use, given);
  alone(use, given);
  weir_acquire_write(given);
  if (*given != 199) return 1;
  weir_free(given);
  return ok();
}
