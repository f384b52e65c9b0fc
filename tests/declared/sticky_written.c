#include "threads.h"
static void *use(void *argument) {
  *(volatile int *)argument = 1;  /* REPORT policy forbidden access OTHER sticky */
  weir_acquire_read(argument);    /* REPORT policy fixed acquire-read OTHER sticky */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 1;
  weir_set_sticky_read(object);  /* IS sticky */
  alone(use, object);
  return *object == 1 ? ok() : 1;
}
