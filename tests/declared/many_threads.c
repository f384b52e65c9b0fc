#include "threads.h"
static int *object;
static void *use(void *argument) {
  (void)argument;
  weir_acquire_read(object);
  if (*(volatile int *)object != 5) exit(4);
  return NULL; /* and never releases it */
}
static void *hold(void *argument) {
  (void)argument;
  weir_acquire_read(object);
  if (*(volatile int *)object != 5) exit(4);
  later();
  weir_release_read(object);
  return NULL;
}
int main(void) { /* more threads than clocks have entries */
  pthread_t threads[42];
  int i;
  object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 5;
  weir_release_write(object);
  for (i = 0; i < 25; i++) alone(use, NULL);
  for (i = 0; i < 42; i++) threads[i] = begin(hold, NULL);
  for (i = 0; i < 42; i++) end(threads[i]);
  return ok();
}
