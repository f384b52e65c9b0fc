#include "threads.h"
static void *first(void *argument) {
  soon();
  weir_acquire_read(argument);
  if (*(volatile int *)argument != 1) exit(4);
  weir_release_read(argument);  /* IS released */
  return NULL;
}
static void *second(void *argument) {
  later();
  weir_acquire_write(argument);  /* REPORT policy unordered acquire-write OTHER released */
  *(int *)argument = 3;
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t a, b;
  *object = 1;
  weir_release_write(object);
  a = begin(first, object);
  b = begin(second, object);
  end(b);
  end(a);
  return ok();
}
