// Two threads ask the time into one structure.
#include "twin.h"

static struct timespec now;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  for (int i = 0; i < 5; ++i) {
    guard(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &now);  // RACE
    unguard(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_threads(2, body);
  use(now.tv_nsec);
  return 0;
}
