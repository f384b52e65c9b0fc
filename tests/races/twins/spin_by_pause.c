// A reader spins with pauses on a plain flag and then reads what it covers.
#include "twin.h"

static int data;
#if RACY
static volatile int ready;
#else
static int ready;
#endif

static void* writer(void* unused) {
  pause_ms(3);
  data = 8;  // RACE
#if RACY
  ready = 1;  // RACE
#else
  __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
#endif
  return unused;
}

static void* reader(void* unused) {
#if RACY
  while (!ready) __builtin_ia32_pause();  // RACE
#else
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
#endif
  use(data);  // RACE
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
