// The owner replaces the array of a deque by a larger one; a thief still reads the old one, which
// is used for something else by then.
#include "planted.h"

static int small[2] = {5, 6}, large[4];
static int* volatile items = small;

static void* grow(void* unused) {
  FIX(lock();)
  for (int i = 0; i < 2; i++) large[i] = items[i];
  items = large;
  BUG(memset(small, 0, sizeof small);)
  FIX(unlock();)
  return unused;
}

static void* steal(void* unused) {
  FIX(lock();)
  int* const array = items;
  const int item = ((volatile int*)array)[1];
  FIX(unlock();)
  REQUIRE(item == 6);
  return unused;
}

int main(void) {
  RUN(steal, grow);
  return 0;
}
