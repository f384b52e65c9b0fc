#include "threads.h"
static void *use(void *argument) {
  weir_acquire_read(argument);  /* IS reads */
  *(int *)argument = 4;  /* REPORT policy forbidden access OTHER reads */
  weir_release_read(argument);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 2;
  weir_release_write(object);
  alone(use, object);
  return ok();
}
