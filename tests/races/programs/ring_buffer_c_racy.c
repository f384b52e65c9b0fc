// A ring buffer with atomic indices whose producer announces the slot before it fills it.
#include "program.h"

#include <stdatomic.h>

enum { kSize = 4, kItems = 40 };
long ring[kSize];
_Atomic unsigned head, tail;
static void* producer(void* unused) {
  for (unsigned i = 0; i < kItems; ++i) {
    while (atomic_load_explicit(&head, memory_order_acquire) + kSize == i) sched_yield();
    atomic_store_explicit(&tail, i + 1, memory_order_release);
    ring[i % kSize] = i;  // RACE
  }
  return unused;
}

static void* consumer(void* unused) {
  for (unsigned i = 0; i < kItems; ++i) {
    while (atomic_load_explicit(&tail, memory_order_acquire) == i) sched_yield();
    use(ring[i % kSize]);  // RACE
    atomic_store_explicit(&head, i + 1, memory_order_release);
  }
  return unused;
}

int main(void) {
  run_two(producer, consumer);
  return 0;
}
