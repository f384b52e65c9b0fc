// A barrier by dissemination: each thread tells another in each round. The racy one has a round too few.
#include "twin.h"

enum { kThreads = 4, kRounds = 2 };
static int told[kRounds][kThreads], parts[kThreads];

static void wait_all(int me, int phase, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int other = (me + (1 << round)) % kThreads;
    __atomic_store_n(&told[round][other], phase, __ATOMIC_RELEASE);
    while (__atomic_load_n(&told[round][me], __ATOMIC_ACQUIRE) < phase) sched_yield();
  }
}

static void* body(void* number) {
  const int me = (int)(long)number;
  if (me == 1) pause_ms(20);
  parts[me] = me;  // RACE
  wait_all(me, 1, RACY ? 1 : kRounds);
  long sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += parts[i];  // RACE
  use(sum);
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  return 0;
}
