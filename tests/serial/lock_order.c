// Two threads lock two mutexes in the opposite order.
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void* both(void* argument) {
  pthread_mutex_t* const one = argument ? &first : &second;
  pthread_mutex_t* const other = argument ? &second : &first;
  pthread_mutex_lock(one);
  pthread_mutex_lock(other);
  pthread_mutex_unlock(other);
  pthread_mutex_unlock(one);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, both, NULL);
  pthread_create(&threads[1], NULL, both, &first);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
