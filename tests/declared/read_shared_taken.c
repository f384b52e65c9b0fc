#include "threads.h"
static void *use(void *argument) {
  weir_acquire_read(argument);
  weir_acquire_write(argument);  /* REPORT policy held-by-other acquire-write */
  weir_release_read(argument);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  weir_acquire_read(object);
  alone(use, object);
  weir_acquire_write(object);
  *object = 1;
  return ok();
}
