// Two threads add one to a counter without a lock: one of the two may be lost.
#include "planted.h"

static volatile int counter;

static void* add(void* unused) {
  FIX(lock();)
  const int read = counter;
  counter = read + 1;
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(add, add);
  REQUIRE(counter == 2);
  return 0;
}
