// The highest number of sessions at once, kept by a load and a store: an older, lower value may
// come last.
#include "planted.h"

static int sessions, peak;

static void* session(void* unused) {
  const int now = __atomic_add_fetch(&sessions, 1, __ATOMIC_SEQ_CST);
  BUG(if (now > __atomic_load_n(&peak, __ATOMIC_SEQ_CST))
          __atomic_store_n(&peak, now, __ATOMIC_SEQ_CST);)
  FIX(for (int old = __atomic_load_n(&peak, __ATOMIC_SEQ_CST);
           old < now &&
           !__atomic_compare_exchange_n(&peak, &old, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST););)
  return unused;
}

int main(void) {
  run_many(8, session, 0, NULL);
  REQUIRE(peak == 8);
  return 0;
}
