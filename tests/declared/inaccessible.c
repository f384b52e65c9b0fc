#include "threads.h"
static void *use(void *argument) {
  *(volatile int *)argument = 4;  /* REPORT policy forbidden access OTHER released */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  weir_release_write(object);  /* IS released */
  alone(use, object);
  return ok();
}
