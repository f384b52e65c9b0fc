// An entry of a log is counted before it is written, and read by who believes the count.
#include "twin.h"

static struct {
  unsigned length;
  int data[16];
} ring;

static void* append(void* unused) {
  for (int i = 0; i < 16; ++i) {
    if (RACY) __atomic_store_n(&ring.length, (unsigned)i + 1, __ATOMIC_RELEASE);
    ring.data[i] = 3 * i;  // RACE
    if (!RACY) __atomic_store_n(&ring.length, (unsigned)i + 1, __ATOMIC_RELEASE);
  }
  return unused;
}

static void* follow(void* unused) {
  for (unsigned seen = 0; seen < 16;) {
    const unsigned length = __atomic_load_n(&ring.length, __ATOMIC_ACQUIRE);
    for (; seen < length; ++seen) use(ring.data[seen]);  // RACE
    sched_yield();
  }
  return unused;
}

int main(void) {
  run_two(append, follow);
  return 0;
}
