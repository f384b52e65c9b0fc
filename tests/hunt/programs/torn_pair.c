// Two fields that belong together, read while they are written.
#include "planted.h"

static volatile int low, high;

static void* move(void* unused) {
  FIX(lock();)
  low = 10;
  high = 20;
  FIX(unlock();)
  return unused;
}

static void* look(void* unused) {
  FIX(lock();)
  const int one = low, two = high;
  FIX(unlock();)
  REQUIRE(two == 2 * one);
  return unused;
}

int main(void) {
  RUN(move, look);
  return 0;
}
