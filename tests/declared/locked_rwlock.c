#include "threads.h"
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *use(void *argument) {
  volatile int *object = (volatile int *)argument;
  int seen;
  pthread_rwlock_wrlock(&lock);
  *object = 3;
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  seen = *object;
  *object = seen + 1;  /* REPORT policy lock-not-held access OTHER locked */
  pthread_rwlock_unlock(&lock);
  return NULL;
}
int main(void) {
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  weir_set_locked(object, &lock);  /* IS locked */
  alone(use, object);
  return ok();
}
