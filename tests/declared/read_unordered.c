#include "threads.h"
static void *first(void *argument) {
  soon();
  *(int *)argument = 3;
  weir_release_write(argument);  /* IS released */
  return NULL;
}
static void *second(void *argument) {
  int seen;
  later();
  weir_acquire_read(argument);  /* REPORT policy unordered acquire-read OTHER released */
  seen = *(volatile int *)argument;
  weir_release_read(argument);
  if (seen != 3) exit(4);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_UNTOUCHED);
  pthread_t a = begin(first, object), b = begin(second, object);
  end(b);
  end(a);
  return ok();
}
