// Setters write two variables one after the other; a checker must not see the second alone
// (SCTBench's reorder, with three setters).
#include "planted.h"

static volatile int a, b;

static void* set(void* unused) {
  FIX(lock();)
  a = 1;
  b = -1;
  FIX(unlock();)
  return unused;
}

static void* check(void* unused) {
  FIX(lock();)
  const int seen_a = a, seen_b = b;
  FIX(unlock();)
  REQUIRE((seen_a == 0 && seen_b == 0) || (seen_a == 1 && seen_b == -1));
  return unused;
}

int main(void) {
  RUN(set, set, set, check);
  return 0;
}
