// The flag that is looked at without the lock is set before the value is complete.
#include "planted.h"

static volatile int is_ready, value;

static void* use(void* unused) {
  if (!is_ready) {
    lock();
    if (!is_ready) {
      BUG(is_ready = 1;)
      value = 42;
      FIX(is_ready = 1;)
    }
    unlock();
  }
  REQUIRE(value == 42);
  return unused;
}

int main(void) {
  RUN(use, use);
  return 0;
}
