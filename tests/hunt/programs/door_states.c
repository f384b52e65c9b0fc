// A state machine that several threads drive: the state is read in one section and set in another.
#include "planted.h"

enum { kIdle, kOpen, kBusy };
static int state, users;

static int step(int from, int to) {
  lock();
  const int fits = state == from;
  BUG(unlock(); lock();)
  if (fits) state = to;
  unlock();
  return fits;
}

static void* use(void* unused) {
  if (!step(kIdle, kOpen)) return unused;
  REQUIRE(__atomic_add_fetch(&users, 1, __ATOMIC_SEQ_CST) == 1);
  step(kOpen, kBusy);
  __atomic_sub_fetch(&users, 1, __ATOMIC_SEQ_CST);
  step(kBusy, kIdle);
  return unused;
}

int main(void) {
  run_many(6, use, 0, NULL);
  return 0;
}
