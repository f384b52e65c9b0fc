// A lock of the program's own that does not look whether it got it.
#include "twin.h"

static volatile int taken;
static int counter;

static void take(void) {
  if (RACY) {
    if (!taken) taken = 1;  // RACE
  } else {
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
  }
}

static void* body(void* unused) {
  for (int i = 0; i < 5; ++i) {
    take();
    counter++;  // RACE
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
