// Peterson's lock: the store of the turn may come after the load of the other's flag.
#include "fence.h"

static int flag[2], turn, count;

static void* add(void* number) {
  const long me = (long)number, other = 1 - me;
  STORE(flag[me], 1);
  STORE(turn, (int)other);
  FENCE();
  while (LOAD(flag[other]) && LOAD(turn) == (int)other) sched_yield();
  const int before = LOAD(count);
  STORE(count, before + 1);
  STORE(flag[me], 0);
  return NULL;
}

int main(void) {
  RUN(add, add);
  REQUIRE(count == 2);
  return 0;
}
