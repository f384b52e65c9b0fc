// Setters write two variables one after the other; checkers must not see the first alone. All
// setters but one have to stand aside, so the more there are the less likely it is.
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
  run_many(SETTERS, set, CHECKERS, check);
  return 0;
}
