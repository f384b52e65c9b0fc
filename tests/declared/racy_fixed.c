#include "threads.h"
static void *use(void *argument) {
  weir_acquire_write(argument);  /* REPORT policy fixed acquire-write OTHER racy */
  weir_set_racy(argument);       /* REPORT policy fixed to-racy OTHER racy */
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_INACCESSIBLE);
  int *mine = (int *)weir_alloc(sizeof *mine, WEIR_PRIVATE);
  weir_set_racy(object);  /* IS racy */
  weir_set_racy(mine);    /* REPORT policy fixed to-racy */
  alone(use, object);
  return ok();
}
