// options: exact=1
#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *argument) {
  volatile int *object = (volatile int *)argument;
  int i;
  for (i = 0; i < 500; i++) {
    pthread_mutex_lock(&lock);
    *object = i;
    pthread_mutex_unlock(&lock);
  }
  *object = 5;  /* REPORT policy lock-not-held access OTHER locked */
  return NULL;
}
int main(void) { /* closed at each unlock, however often it was touched in order */
  int *object = (int *)weir_alloc(sizeof *object, WEIR_UNTOUCHED);
  weir_set_locked(object, &lock);  /* IS locked */
  alone(use, object);
  return ok();
}
