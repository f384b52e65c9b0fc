#include "threads.h"
static void *use(void *argument) {
  weir_free(argument);  /* REPORT policy held-by-other access OTHER made */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(8 * sizeof *object, WEIR_PRIVATE);  /* IS made */
  object[0] = 1;
  alone(use, object);
  return ok();
}
