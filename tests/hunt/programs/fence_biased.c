// A lock that its owner takes without an atomic instruction: it says that it holds it, and looks
// whether that right was revoked. Who revokes it waits until the owner does not hold it.
#include "fence.h"

static int held, revoked, inside;

static void* own(void* unused) {
  for (int i = 0; i < 2; i++) {
    STORE(held, 1);
    FENCE();
    if (LOAD(revoked)) {
      STORE(held, 0);
      return unused;
    }
    REQUIRE(!LOAD(inside));
    STORE(inside, 1);
    STORE(inside, 0);
    STORE(held, 0);
  }
  return unused;
}

static void* take_away(void* unused) {
  STORE(revoked, 1);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  while (LOAD(held)) sched_yield();
  REQUIRE(!LOAD(inside));
  STORE(inside, 1);
  STORE(inside, 0);
  return unused;
}

int main(void) {
  RUN(own, take_away);
  return 0;
}
