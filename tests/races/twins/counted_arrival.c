// A barrier of a counter: each thread adds itself, does not look at what was there, and then waits
// until all have come. The racy one goes on when it has come itself.
#include "twin.h"

enum { kThreads = 3 };
static int arrived;
int values[kThreads];
int sums[kThreads];

static void* body(void* number) {
  const long i = (long)number;
  pause_ms((int)(10 * i));
  values[i] = (int)i + 1;  // RACE
  __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < (RACY ? 1 : kThreads)) sched_yield();
  sums[i] = values[(i + 1) % kThreads];  // RACE
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  return !RACY && sums[0] + sums[1] + sums[2] != 6;
}
