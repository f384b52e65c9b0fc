// Initialization without a lock, checked twice: a thread claims it, and looks whether the other has
// claimed it before. Both may miss the other's claim, and both initialize.
#include "fence.h"

static int ready, claimed[2], times;

static void initialize(long me) {
  if (LOAD(ready)) return;
  STORE(claimed[me], 1);
  FENCE();
  if (LOAD(claimed[1 - me])) {
    if (me == 1) return;  // the first one does it, as soon as the other has given up
    while (LOAD(claimed[1])) sched_yield();
  }
  if (LOAD(ready)) return;
  __atomic_add_fetch(&times, 1, __ATOMIC_RELAXED);
  STORE(ready, 1);
}

static void* begin(void* argument) {
  const long me = (long)argument;
  initialize(me);
  STORE(claimed[me], 0);
  return NULL;
}

int main(void) {
  RUN(begin, begin);
  REQUIRE(times <= 1);
  return 0;
}
