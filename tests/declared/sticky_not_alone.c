#include "threads.h"
static void *wait(void *argument) {
  (void)argument;
  later();
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t thread = begin(wait, NULL);
  *object = 1;
  weir_set_sticky_read(object);  /* REPORT policy not-alone to-sticky-read */
  end(thread);
  weir_set_sticky_read(object);
  return *object == 1 ? ok() : 1;
}
