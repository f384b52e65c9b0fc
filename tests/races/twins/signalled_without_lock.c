// The condition is set before the lock is taken to signal it.
#include "twin.h"

static int ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void* wait_for(void* unused) {
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&condition, &mutex);  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* set(void* unused) {
  pause_ms(5);
  guard(&mutex);
  ready = 1;  // RACE
  unguard(&mutex);
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(wait_for, set);
  return 0;
}
