// `is_ready && value == 3` in one expression; the racy flag is set before the value.
#include "twin.h"

static int is_ready, value;

static int is_three(void) {
  const int ready = __atomic_load_n(&is_ready, __ATOMIC_ACQUIRE);
  return ready && value == 3;  // RACE
}

static void* set(void* unused) {
  if (RACY) __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
  value = 3;  // RACE
  if (!RACY) __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
  return unused;
}

static void* ask(void* unused) {
  for (int i = 0; i < 50; ++i) {
    use(is_three());
    sched_yield();
  }
  return unused;
}

int main(void) {
  run_two(set, ask);
  return 0;
}
