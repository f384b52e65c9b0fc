// An owner pushes and pops at one end of a deque, and a thief takes from the other.
#include <stdatomic.h>

#include "twin.h"

static atomic_long top, bottom;
static long tasks[64];
static _Atomic long cells[64];

static void put(long at, long value) {
  if (RACY) tasks[at] = value;  // RACE
  else atomic_store_explicit(&cells[at], value, memory_order_relaxed);
}

static long got(long at) {
  if (RACY) return tasks[at];  // RACE
  return atomic_load_explicit(&cells[at], memory_order_relaxed);
}

static void* thief(void* unused) {
  for (int tries = 0; tries < 200; ++tries) {
    long first = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    const long last = RACY ? 64 : atomic_load_explicit(&bottom, memory_order_acquire);
    if (first >= last || first >= 64) continue;
    const long value = got(first);
    if (atomic_compare_exchange_strong(&top, &first, first + 1)) use(value);
  }
  return unused;
}

int main(void) {
  pthread_t thread = start(thief, NULL);
  for (long i = 0; i < 60; ++i) {
    const long at = atomic_load_explicit(&bottom, memory_order_relaxed);
    put(at, i);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, at + 1, memory_order_relaxed);
    if (i % 8 == 0) pause_ms(1);
  }
  join(thread);
  return 0;
}
