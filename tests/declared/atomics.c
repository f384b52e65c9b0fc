#include "threads.h"
static void *use(void *argument) {
  int *const *objects = (int *const *)argument;
  __atomic_add_fetch(objects[0], 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(objects[1], 1, __ATOMIC_SEQ_CST);  /* REPORT policy forbidden access OTHER made */
  return NULL;
}
int main(void) {
  int *objects[2];
  objects[0] = (int *)weir_alloc(sizeof(int), WEIR_RACY);
  objects[1] = (int *)weir_alloc(sizeof(int), WEIR_PRIVATE);  /* IS made */
  *objects[0] = *objects[1] = 0;
  alone(use, objects);
  return *objects[0] == 1 && *objects[1] == 1 ? ok() : 1;
}
