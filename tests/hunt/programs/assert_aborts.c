// assert() in a thread: a counter of bytes in flight that goes below zero.
#include "planted.h"

#include <assert.h>

static int in_flight;

static void* sent(void* unused) {
  for (int i = 0; i < 3; i++) {
    FIX(__atomic_add_fetch(&in_flight, 1, __ATOMIC_SEQ_CST);)
    lock();
    unlock();
    BUG(__atomic_store_n(&in_flight, __atomic_load_n(&in_flight, __ATOMIC_SEQ_CST) + 1,
                         __ATOMIC_SEQ_CST);)
  }
  return unused;
}

static void* acknowledged(void* unused) {
  for (int i = 0; i < 3; i++) {
    while (__atomic_load_n(&in_flight, __ATOMIC_SEQ_CST) <= 0) sched_yield();
    __atomic_sub_fetch(&in_flight, 1, __ATOMIC_SEQ_CST);
  }
  return unused;
}

int main(void) {
  RUN(sent, acknowledged);
  assert(in_flight == 0);
  return 0;
}
