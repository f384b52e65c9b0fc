// The last thread opens the barrier before it has reset the count for the next round.
#include "planted.h"

static int arrived;
static volatile int is_open;

static int arrive(void) { return __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST); }

static void* first(void* unused) {
  if (arrive() == 2) {
    BUG(is_open = 1;)
    __atomic_store_n(&arrived, 0, __ATOMIC_SEQ_CST);
    FIX(is_open = 1;)
  }
  if (is_open) REQUIRE(arrive() == 1);
  return unused;
}

static void* second(void* unused) {
  if (arrive() == 2) {
    BUG(is_open = 1;)
    __atomic_store_n(&arrived, 0, __ATOMIC_SEQ_CST);
    FIX(is_open = 1;)
  }
  return unused;
}

int main(void) {
  RUN(first, second);
  return 0;
}
