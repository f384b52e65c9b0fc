// A state goes from step to step if the two threads take turns: the last step needs 3 of them.
#include "planted.h"

static volatile int state;

static void advance(int from) {
  if (state == from) state = from + 1;
}

static void* even(void* unused) {
  FIX(lock();)
  for (int i = 0; i <= 3; i += 2) advance(i);
  FIX(unlock();)
  return unused;
}

static void* odd(void* unused) {
  FIX(lock();)
  for (int i = 1; i <= 3; i += 2) advance(i);
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(odd, even);
#ifdef FIXED
  REQUIRE(state <= 2);
#else
  REQUIRE(state <= 3);
#endif
  return 0;
}
