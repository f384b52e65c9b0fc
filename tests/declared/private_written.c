#include "threads.h"
static void *use(void *argument) {
  int i;
  for (i = 0; i < 5000; i++) ((volatile int *)argument)[i % 3]++;  /* REPORT policy forbidden access OTHER got REPORT policy forbidden access OTHER got */
  return NULL;
}
int main(void) {
  int *mine = (int *)weir_alloc(100, WEIR_INACCESSIBLE);
  weir_acquire_write(mine);  /* IS got */
  mine[0] = mine[1] = mine[2] = 0;
  alone(use, mine);
  return mine[0] + mine[1] + mine[2] == 5000 ? ok() : 1;
}
