// clock_gettime() stores to a struct that another thread reads.
#include "twin.h"

static struct timespec now;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* tell(void* unused) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &now);  // RACE
    unguard(&mutex);
  }
  return unused;
}

static void* ask(void* unused) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    use(now.tv_sec);  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(tell, ask);
  return 0;
}
