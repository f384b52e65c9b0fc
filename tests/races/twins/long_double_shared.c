// A long double is summed up by two threads.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long double sum;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  for (int i = 0; i < 3; ++i) {
    guard(&mutex);
    sum += 0.5L;  // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use((long)sum);
  return 0;
}
