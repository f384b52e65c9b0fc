#include "threads.h"
int main(void) { /* the rules hold before there is a second thread */
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);  /* IS made */
  weir_acquire_write(object);  /* REPORT policy held-already acquire-write OTHER made */
  weir_release_read(object);   /* REPORT policy not-held release-read OTHER made */
  weir_release_write(object);
  weir_set_racy(object);
  weir_acquire_read(object);   /* REPORT policy fixed acquire-read */
  weir_free(object);
  return ok();
}
