// Four threads hand a number on in a ring, each to the next. Whose turn it is is only known by
// what the last has written, and that is written in two parts.
#include "planted.h"

enum { kCount = 4 };
static volatile int values[kCount];

static void* hand_on(void* number) {
  const long mine = (long)number, before = (mine + kCount - 1) % kCount;
  FIX(lock();)
  values[mine] = (values[before] + 1) % kCount;
  FIX(unlock();)
  return NULL;
}

// At least one of the values follows from another that was written before: as in a ring where one
// goes after the other, not all of them from what was there at the beginning.
static void judge(void) {
  int same = 0;
  for (int i = 0; i < kCount; i++) same += values[i] == 1;
  REQUIRE(same < kCount);
}

int main(void) {
  RUN(hand_on, hand_on, hand_on, hand_on);
  judge();
  return 0;
}
