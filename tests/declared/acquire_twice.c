#include "threads.h"
static void *use(void *argument) {
  weir_acquire_write(argument);  /* IS first */
  weir_acquire_write(argument);  /* REPORT policy held-already acquire-write OTHER first */
  weir_release_write(argument);  /* IS last */
  weir_release_write(argument);  /* REPORT policy not-held release-write OTHER last */
  weir_acquire_read(argument);   /* IS reads */
  weir_acquire_read(argument);   /* REPORT policy held-already acquire-read OTHER reads */
  weir_release_read(argument);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_UNTOUCHED);
  alone(use, object);
  return ok();
}
