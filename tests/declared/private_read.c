#include "threads.h"
static int sum;
static void *use(void *argument) {
  sum = *(int *)argument;  /* REPORT policy forbidden access OTHER made */
  return NULL;
}
int main(void) {
  int *mine = (int *)weir_alloc(sizeof *mine, WEIR_PRIVATE);  /* IS made */
  *mine = 1;
  alone(use, mine);
  return sum == 1 ? ok() : 1;
}
