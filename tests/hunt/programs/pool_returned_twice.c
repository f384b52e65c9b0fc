// Two owners of a buffer drop it, each of which finds that it is the last one.
#include "planted.h"

static int owners = 2, returned;

static void* drop(void* unused) {
  BUG(__atomic_sub_fetch(&owners, 1, __ATOMIC_SEQ_CST);
      if (__atomic_load_n(&owners, __ATOMIC_SEQ_CST) == 0))
  FIX(if (__atomic_sub_fetch(&owners, 1, __ATOMIC_SEQ_CST) == 0))
  __atomic_add_fetch(&returned, 1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(drop, drop);
  REQUIRE(returned == 1);
  return 0;
}
