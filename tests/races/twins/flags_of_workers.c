// Main polls a flag of each worker and adds its part; the flags are plain or atomic.
#include "twin.h"

enum { kWorkers = 3 };
static long parts[kWorkers];
static int done[kWorkers];

static void* worker(void* number) {
  const long me = (long)number;
  for (int i = 0; i < 100; ++i) parts[me] += i * me;
#if RACY
  ((volatile int*)done)[me] = 1;  // RACE
#else
  __atomic_store_n(&done[me], 1, __ATOMIC_RELEASE);
#endif
  return NULL;
}

static int is_done(int number) {
#if RACY
  return ((volatile int*)done)[number];  // RACE
#else
  return __atomic_load_n(&done[number], __ATOMIC_ACQUIRE);
#endif
}

int main(void) {
  pthread_t threads[kWorkers];
  for (long i = 0; i < kWorkers; ++i) threads[i] = start(worker, (void*)i);
  long sum = 0;
  for (int i = 0; i < kWorkers; ++i) {
    while (!is_done(i)) sched_yield();
    sum += parts[i];  // RACE
  }
  use(sum);
  for (int i = 0; i < kWorkers; ++i) join(threads[i]);
  return 0;
}
