// A timed lock runs out of time, and the thread goes on without it.
#include "twin.h"

static int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* slow(void* unused) {
  pthread_mutex_lock(&mutex);
  value = 1;  // RACE
  pause_ms(40);
  value = 2;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* impatient(void* unused) {
  struct timespec until;
  pause_ms(10);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += RACY ? 0 : 60;
  const int failed = pthread_mutex_timedlock(&mutex, &until);
  value = 3;  // RACE
  if (!failed) pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  run_two(slow, impatient);
  return value > 0 ? 0 : 1;
}
