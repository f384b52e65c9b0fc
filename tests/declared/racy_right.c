#include "threads.h"
static void *use(void *argument) {
  int i;
  for (i = 0; i < 1000; i++) ++*(volatile int *)argument;
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_RACY);
  pthread_t a, b;
  *object = 0;
  a = begin(use, object);
  b = begin(use, object);
  end(a);
  end(b);
  weir_free(object);
  return ok();
}
