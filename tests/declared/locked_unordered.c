#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *argument) {
  soon();
  weir_acquire_write(argument);
  *(volatile int *)argument = 1;
  weir_set_locked(argument, &lock);  /* IS locked */
  return NULL;
}
static void *second(void *argument) {
  later();
  pthread_mutex_lock(&lock);
  *(volatile int *)argument = 2;  /* REPORT policy unordered access OTHER locked */
  pthread_mutex_unlock(&lock);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_INACCESSIBLE);
  pthread_t a = begin(first, object), b = begin(second, object);
  end(b);
  end(a);
  return ok();
}
