// A wait with a limit ends before the signal comes; the racy program takes the result all the same.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready, result;

static void* producer(void* unused) {
  pause_ms(30);
  result = 42;  // RACE
  pause_ms(30);
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* consumer(void* unused) {
  pthread_mutex_lock(&mutex);
  int error = 0;
  while (!ready && (!RACY || error != ETIMEDOUT)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 5000000;
    if (until.tv_nsec >= 1000000000) {
      until.tv_sec++;
      until.tv_nsec -= 1000000000;
    }
    error = pthread_cond_timedwait(&condition, &mutex, &until);
  }
  pthread_mutex_unlock(&mutex);
  use(result);  // RACE
  return unused;
}

int main(void) {
  run_two(producer, consumer);
  return 0;
}
