// A thread asks whether the stack is empty, and pops later.
#include "planted.h"

static int items[4] = {1, 2, 3}, size = 3;

static int is_empty(void) {
  lock();
  const int result = size == 0;
  unlock();
  return result;
}

static void* drain(void* unused) {
#ifdef FIXED
  for (;;) {
    lock();
    const int have = size > 0;
    if (have) size--;
    unlock();
    if (!have) break;
  }
#else
  while (!is_empty()) {
    lock();
    REQUIRE(size > 0);
    size--;
    unlock();
  }
#endif
  return unused;
}

int main(void) {
  RUN(drain, drain);
  REQUIRE(is_empty() && items[0] == 1);
  return 0;
}
