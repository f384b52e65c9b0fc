// A driver counts its users and is stopped; the stop is asked without the lock.
#include "twin.h"

static int users = 1, is_stopping;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* call(void* unused) {
  guard(&mutex);
  const int refused = is_stopping;  // RACE
  unguard(&mutex);
  if (refused) return unused;
  pthread_mutex_lock(&mutex);
  users++;
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&mutex);
  users--;
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* stop(void* unused) {
  pause_ms(10);
  guard(&mutex);
  is_stopping = 1;  // RACE
  unguard(&mutex);
  pthread_mutex_lock(&mutex);
  users--;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(call, stop);
  return 0;
}
