// A stack whose push and pop are locked each for itself; who pops has looked outside whether there
// is something.
#include "planted.h"

enum { kItems = 4 };
static int items[kItems], top;

static int is_empty(void) {
  lock();
  const int empty = top == 0;
  unlock();
  return empty;
}

static void* push(void* unused) {
  for (int i = 0; i < kItems; i++) {
    lock();
    items[top++] = i;
    unlock();
  }
  return unused;
}

static void* pop(void* unused) {
  for (int i = 0; i < kItems; i++) {
    if (is_empty()) continue;
    lock();
    FIX(if (top > 0))
    top--;
    REQUIRE(top >= 0);
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(push, pop, pop);
  return 0;
}
