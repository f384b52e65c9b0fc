// The predicate of a condition variable is asked before the lock is taken.
#include "twin.h"

static int is_full;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* fill(void* unused) {
  pthread_mutex_lock(&mutex);
  is_full = 1;  // RACE
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* empty(void* unused) {
  pause_ms(10);
  if (!RACY) pthread_mutex_lock(&mutex);
  const int was_full = is_full;  // RACE
  if (RACY) pthread_mutex_lock(&mutex);
  use(was_full);
  while (!is_full) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(fill, empty);
  return 0;
}
