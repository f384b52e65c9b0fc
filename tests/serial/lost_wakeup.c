// A lost wake-up: a thread looks at the flag without the lock, and waits for a signal that may have
// been given in between.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int ready;

static void* waits(void* argument) {
  if (ready) return argument;
  pthread_mutex_lock(&lock);
  pthread_cond_wait(&condition, &lock);
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  ready = 1;
  pthread_mutex_lock(&lock);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  return 0;
}
