#include "threads.h"
static int seen;
static void *use(void *argument) {
  seen = *(int *)argument;  /* REPORT policy forbidden access OTHER shared */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 2;
  weir_acquire_read(object);  /* IS shared */
  alone(use, object);
  return seen == 2 ? ok() : 1;
}
