#include "threads.h"
static void *use(void *argument) {
  weir_acquire_write(argument);  /* REPORT policy held-by-other acquire-write OTHER made */
  weir_acquire_read(argument);   /* REPORT policy held-by-other acquire-read OTHER made */
  return NULL;
}
int main(void) {
  int *mine = (int *)weir_alloc(sizeof *mine, WEIR_PRIVATE);  /* IS made */
  *mine = 2;
  alone(use, mine);
  return *mine == 2 ? ok() : 1;
}
