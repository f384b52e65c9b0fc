// Four workers wait for a plain volatile flag, which main sets.
#include "twin.h"

#if RACY
static volatile int stop;
#else
static int stop;
#endif
static long work[4];

static int is_stopped(void) {
#if RACY
  return stop;  // RACE
#else
  return __atomic_load_n(&stop, __ATOMIC_ACQUIRE);
#endif
}

static void* body(void* number) {
  while (!is_stopped()) work[(long)number]++;
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; ++i) threads[i] = start(body, (void*)i);
  pause_ms(30);
#if RACY
  stop = 1;  // RACE
#else
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
#endif
  for (int i = 0; i < 4; ++i) join(threads[i]);
  use(work[0]);
  return 0;
}
