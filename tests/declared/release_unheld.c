#include "threads.h"
static void *use(void *argument) {
  weir_release_write(argument);  /* REPORT policy not-held release-write OTHER made */
  weir_release_read(argument);   /* REPORT policy not-held release-read OTHER made */
  return NULL;
}
int main(void) {
  int *mine = (int *)weir_alloc(sizeof *mine, WEIR_PRIVATE);  /* IS made */
  *mine = 4;
  alone(use, mine);
  return *mine == 4 ? ok() : 1;
}
