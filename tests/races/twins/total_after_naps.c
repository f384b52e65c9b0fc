// Threads compute on counters of their own between naps, and add to one at the end.
#include "twin.h"

static long counts[4], total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 20; ++i) {
    for (int k = 0; k < 5000; ++k) counts[me] += k, use(k);
    usleep(1500);
  }
  pause_ms(2);
  guard(&mutex);
  total += counts[me];  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(4, body);
  use(total);
  return 0;
}
