#include "threads.h"
static int *volatile object;
static long *volatile large;
static void *use(void *argument) {
  (void)argument;
  object[1] = 4;             /* REPORT misuse freed access OTHER freed */
  large[1000] = 4;           /* REPORT misuse freed access OTHER freed_too */
  weir_acquire_read(object); /* REPORT misuse freed acquire-read OTHER freed */
  return NULL;
}
int main(void) {
  object = (int *)weir_alloc(10 * sizeof *object, WEIR_PRIVATE);
  large = (long *)weir_alloc(10000 * sizeof *large, WEIR_PRIVATE);
  weir_free(object);  /* IS freed */
  weir_free(large);   /* IS freed_too */
  if (weir_active()) alone(use, NULL);
  return ok();
}
