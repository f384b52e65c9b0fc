#include "threads.h"
static void *first(void *argument) {
  *(volatile int *)argument = 4;  /* IS touched */
  return NULL;
}
static void *second(void *argument) {
  *(volatile int *)argument = 5;  /* REPORT policy forbidden access OTHER touched */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_UNTOUCHED);
  alone(first, object);
  alone(second, object);
  return ok();
}
