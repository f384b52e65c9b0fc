// A work-stealing deque with a lock that its owner takes only where it meets a thief: it looks at
// the other end before it has moved its own.
#include "planted.h"

enum { kItems = 6 };
static volatile int top, bottom;
static int items[kItems], taken[kItems], pushed;

static void take(int index) {
  REQUIRE(__atomic_add_fetch(&taken[items[index]], 1, __ATOMIC_SEQ_CST) == 1);
}

static void steal(void) {
  lock();
  const int first = top;
  top = first + 1;
  if (first < bottom) take(first);
  else top = first;
  unlock();
}

static void pop(void) {
  BUG(const int seen = top;)
  const int last = bottom - 1;
  bottom = last;
  FIX(const int seen = top;)
  if (seen < last) {
    take(last);
    return;
  }
  lock();
  if (top <= last) take(last);
  else bottom = last + 1;
  unlock();
}

static void* own(void* unused) {
  for (int i = 0; i < kItems; i++) {
    items[bottom] = pushed++;
    bottom = bottom + 1;
    if (i % 3 == 2) pop();
  }
  while (bottom > top) pop();
  return unused;
}

static void* thieve(void* unused) {
  for (int i = 0; i < 3; i++) steal();
  return unused;
}

int main(void) {
  RUN(own, thieve, thieve);
  return 0;
}
