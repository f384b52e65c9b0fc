#include "threads.h"
static void *use(void *argument) {
  ++*(int *)argument;  /* REPORT policy forbidden access OTHER declared */
  return NULL;
}
int main(void) { /* malloc's blocks can be declared too; free ends that */
  int *block = (int *)malloc(100), *again;
  weir_object_declare(block, sizeof *block, WEIR_PRIVATE);  /* IS declared */
  *block = 0;
  alone(use, block);
  free(block);
  again = (int *)malloc(100);
  *again = 0;
  weir_object_declare(again, sizeof *again, WEIR_UNTOUCHED);
  free(again);
  return ok();
}
