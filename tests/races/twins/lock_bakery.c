// Lamport's bakery; the racy program writes a statistic before it has drawn its number.
#include "twin.h"

enum { kThreads = 3 };
static int draws[kThreads], tickets[kThreads], value, statistic;

static void take(int me) {
  __atomic_store_n(&draws[me], 1, __ATOMIC_SEQ_CST);
  int most = 0;
  for (int i = 0; i < kThreads; ++i) {
    const int one = __atomic_load_n(&tickets[i], __ATOMIC_SEQ_CST);
    if (one > most) most = one;
  }
  __atomic_store_n(&tickets[me], most + 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&draws[me], 0, __ATOMIC_SEQ_CST);
  for (int i = 0; i < kThreads; ++i) {
    while (__atomic_load_n(&draws[i], __ATOMIC_SEQ_CST)) sched_yield();
    for (;;) {
      const int one = __atomic_load_n(&tickets[i], __ATOMIC_SEQ_CST);
      const int mine = most + 1;
      if (!one || one > mine || (one == mine && i >= me)) break;
      sched_yield();
    }
  }
}

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < 5; ++i) {
    if (RACY) statistic += me;  // RACE
    take(me);
    if (!RACY) statistic += me;
    value += 1;
    __atomic_store_n(&tickets[me], 0, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  use(value + statistic);
  return 0;
}
