// Three threads make something when it is first asked for. Who comes second sees that somebody has
// begun, and takes that for done.
#include "planted.h"

static volatile int has_begun, size;

static void make(void) {
  lock();
  if (!has_begun) {
    has_begun = 1;
    BUG(unlock();)
    size = 10;
    FIX(unlock();)
    return;
  }
  unlock();
}

static void* use(void* unused) {
  make();
  REQUIRE(size == 10);
  return unused;
}

int main(void) {
  RUN(use, use, use);
  return 0;
}
