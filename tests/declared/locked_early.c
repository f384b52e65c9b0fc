#include "threads.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *use(void *argument) {
  pthread_mutex_lock(&lock);
  ++*(volatile int *)argument;
  pthread_mutex_unlock(&lock);
  return NULL;
}
int main(void) { /* a lock that is held since before there were threads */
  int *object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  pthread_t thread;
  *object = 0;
  weir_set_locked(object, &lock);
  pthread_mutex_lock(&lock);
  thread = begin(use, object);
  ++*object;
  pthread_mutex_unlock(&lock);
  end(thread);
  return ok();
}
