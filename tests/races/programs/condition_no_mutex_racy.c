// The waiter waits rightly, but the setter changes the predicate without the mutex and only signals.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;
static void* waiter(void* unused) {
  pthread_mutex_lock(&mutex);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_nsec += 100000000;
  limit.tv_sec += limit.tv_nsec / 1000000000, limit.tv_nsec %= 1000000000;
  while (!ready && pthread_cond_timedwait(&changed, &mutex, &limit) == 0) {}  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* setter(void* unused) {
  ready = 1;  // RACE
  pthread_cond_signal(&changed);
  return unused;
}

int main(void) {
  run_two(waiter, setter);
  return 0;
}
