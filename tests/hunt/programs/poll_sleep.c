// One thread looks every millisecond whether another has finished, which says so too soon.
#include "planted.h"

static volatile int is_done, result;

static void* work(void* unused) {
  usleep(3000);
  BUG(is_done = 1;)
  result = 7;
  FIX(is_done = 1;)
  return unused;
}

static void* watch(void* unused) {
  while (!is_done) usleep(1000);
  REQUIRE(result == 7);
  return unused;
}

int main(void) {
  RUN(watch, work);
  return 0;
}
