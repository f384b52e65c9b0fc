// The second look, inside the lock, is missing: two threads initialize.
#include "planted.h"

static volatile int is_ready;
static int initialized;

static void* use(void* unused) {
  if (!is_ready) {
    lock();
    FIX(if (!is_ready)) {
      initialized++;
      is_ready = 1;
    }
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(use, use);
  REQUIRE(initialized == 1);
  return 0;
}
