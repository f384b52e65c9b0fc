// Each thread raises its flag and enters if the other's is down (Dekker, without the turn). A store
// and a later load of something else change places, and both enter.
#include "fence.h"

static int flag[2], inside;

static void* enter(void* number) {
  const long me = (long)number;
  STORE(flag[me], 1);
  FENCE();
  if (LOAD(flag[1 - me])) return NULL;
  REQUIRE(__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) == 1);
  return NULL;
}

int main(void) {
  RUN(enter, enter);
  return 0;
}
