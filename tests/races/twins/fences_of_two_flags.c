// Two threads keep each other out by flags and fences (Dekker), or by flags that nobody waits for.
#include <stdatomic.h>

#include "twin.h"

static atomic_int wants[2];
static atomic_int turn;
static long value;

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < 5; ++i) {
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (!RACY && atomic_load_explicit(&wants[!me], memory_order_acquire)) {
      if (atomic_load_explicit(&turn, memory_order_acquire) != me) {
        atomic_store_explicit(&wants[me], 0, memory_order_release);
        while (atomic_load_explicit(&turn, memory_order_acquire) != me) sched_yield();
        atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
      }
      sched_yield();
    }
    value += i;  // RACE
    atomic_store_explicit(&turn, !me, memory_order_release);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(value);
  return 0;
}
