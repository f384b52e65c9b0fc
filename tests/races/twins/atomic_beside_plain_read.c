// A counter is added to atomically, and reset plainly.
#include "twin.h"

static int counter;

static void* add(void* unused) {
  for (int i = 0; i < 5; ++i) __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);  // RACE
  return unused;
}

static void* reset(void* unused) {
  pause_ms(5);
  if (RACY) counter = 0;  // RACE
  else __atomic_store_n(&counter, 0, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  run_two(add, reset);
  return 0;
}
