// The thread writes although its timed lock ran out.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
static void* holder(void* unused) {
  pthread_mutex_lock(&mutex);
  pause_ms(20);
  value = 1;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* hasty(void* unused) {
  pause_ms(3);
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  int failed = pthread_mutex_timedlock(&mutex, &limit);
  value = 2;  // RACE
  if (!failed) pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(holder, hasty);
  return 0;
}
