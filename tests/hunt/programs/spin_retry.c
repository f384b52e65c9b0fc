// A count of free places, taken by compare and exchange in a loop; who gives one back adds to what
// it has read before.
#include "planted.h"

static int places = 1;

static void take(void) {
  for (;;) {
    int seen = __atomic_load_n(&places, __ATOMIC_SEQ_CST);
    if (seen > 0 && __atomic_compare_exchange_n(&places, &seen, seen - 1, 0, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST))
      return;
  }
}

static void give_back(void) {
#ifdef FIXED
  __atomic_add_fetch(&places, 1, __ATOMIC_SEQ_CST);
#else
  const int seen = __atomic_load_n(&places, __ATOMIC_SEQ_CST);
  __atomic_store_n(&places, seen + 1, __ATOMIC_SEQ_CST);
#endif
}

static void* lends(void* unused) {
  give_back();
  return unused;
}

static void* borrows(void* unused) {
  take();
  give_back();
  return unused;
}

int main(void) {
  RUN(borrows, borrows, lends, borrows);
  REQUIRE(places == 2);
  return 0;
}
