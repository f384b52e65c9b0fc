// A worker notes the time in each round, a watchdog looks at it.
#include "twin.h"

static long long beat;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* worker(void* unused) {
  for (int i = 1; i <= 2000; ++i) {
    guard(&mutex);
    beat = i;  // RACE
    unguard(&mutex);
    for (int k = 0; k < 200; ++k) use(k);
    if (i % 100 == 0) usleep(200);
  }
  return unused;
}

static void* watchdog(void* unused) {
  for (int i = 0; i < 5; ++i) {
    pause_ms(2);
    guard(&mutex);
    use((long)beat);  // RACE
    unguard(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(worker, watchdog);
  return 0;
}
