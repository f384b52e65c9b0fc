// The owner gives an object back as soon as the worker has said that it is done; it says so one
// access too early.
#include "planted.h"

static volatile int is_alive = 1, is_done, result;

static void* work(void* unused) {
  BUG(is_done = 1;)
  result = is_alive ? 8 : -1;
  FIX(is_done = 1;)
  return unused;
}

static void* own(void* unused) {
  for (int i = 0; i < 3; i++) {
    if (!is_done) continue;
    is_alive = 0;
    break;
  }
  return unused;
}

int main(void) {
  RUN(work, own);
  REQUIRE(result == 8);
  return 0;
}
