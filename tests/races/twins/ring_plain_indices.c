// A ring of one writer and one reader whose indices are plain.
#include "twin.h"

enum { kSize = 8 };
static int slots[kSize];
static unsigned written, taken;

static unsigned look(const unsigned* index) {
#if RACY
  return *index;  // RACE
#else
  return __atomic_load_n(index, __ATOMIC_ACQUIRE);
#endif
}

static void advance(unsigned* index) {
#if RACY
  *index = *index + 1;  // RACE
#else
  __atomic_store_n(index, *index + 1, __ATOMIC_RELEASE);
#endif
}

static void* put(void* unused) {
  for (int i = 0; i < 20; ++i) {
    while (written - look(&taken) == kSize) sched_yield();
    slots[written % kSize] = i;
    advance(&written);
  }
  return unused;
}

static void* take(void* unused) {
  for (int i = 0; i < 20; ++i) {
    while (look(&written) == taken) sched_yield();
    use(slots[taken % kSize]);
    advance(&taken);
  }
  return unused;
}

int main(void) {
  run_two(put, take);
  return 0;
}
