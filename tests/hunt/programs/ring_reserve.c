// Producers reserve a slot by an atomic addition and fill it afterwards; the consumer takes what is
// reserved for what is there.
#include "planted.h"

enum { kEach = 3, kProducers = 2 };
static int reserved, slots[kEach * kProducers], is_full[kEach * kProducers];

static void* produce(void* number) {
  for (int i = 0; i < kEach; i++) {
    const int at = __atomic_fetch_add(&reserved, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&slots[at], 100 + (int)(long)number, __ATOMIC_SEQ_CST);
    __atomic_store_n(&is_full[at], 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

static void* consume(void* unused) {
  for (int at = 0; at < kEach * kProducers; at++) {
    BUG(while (__atomic_load_n(&reserved, __ATOMIC_SEQ_CST) <= at) sched_yield();)
    FIX(while (!__atomic_load_n(&is_full[at], __ATOMIC_SEQ_CST)) sched_yield();)
    REQUIRE(__atomic_load_n(&slots[at], __ATOMIC_SEQ_CST) >= 100);
  }
  return unused;
}

int main(void) {
  RUN(produce, produce, consume);
  return 0;
}
