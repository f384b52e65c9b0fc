#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *argument) {
  pthread_mutex_lock(&lock);
  ++*(volatile int *)argument;
  pthread_mutex_unlock(&lock);
  *(volatile int *)argument = 7;  /* REPORT policy lock-not-held access OTHER locked */
  return NULL;
}
static void *second(void *argument) {
  pthread_mutex_lock(&other);
  *(volatile int *)argument = 7;  /* REPORT policy lock-not-held access OTHER locked */
  pthread_mutex_unlock(&other);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  *object = 0;
  weir_set_locked(object, &lock);  /* IS locked */
  alone(first, object);
  alone(second, object);
  return ok();
}
