#include "threads.h"
static void *use(void *argument) {
  void *volatile inside = (char *)argument + 4;
  int *plain = (int *)malloc(sizeof *plain);
  weir_free(argument);                              /* IS freed */
  if (weir_active()) weir_free(argument);           /* REPORT misuse freed access OTHER freed */
  if (weir_active()) weir_free(inside); /* REPORT misuse unknown-object access */
  weir_free(plain);
  weir_free(NULL);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(8 * sizeof *object, WEIR_UNTOUCHED);
  alone(use, object);
  return ok();
}
