// A loop polls a plain flag, with the compiler kept from merging its reads.
#include "twin.h"

static int ready, data;

static void* producer(void* unused) {
  pause_ms(5);
  data = 4;
#if RACY
  ready = 1;  // RACE
#else
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
#endif
  return unused;
}

static int is_ready(void) {
#if RACY
  return ready;  // RACE
#else
  return __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
#endif
}

static void* consumer(void* unused) {
  while (!is_ready()) {
    use(0);
    sched_yield();
  }
  use(data);
  return unused;
}

int main(void) {
  run_two(producer, consumer);
  return 0;
}
