// Atomic operations, and yet too many: the check and the addition are two.
#include "planted.h"
static int inside, most;
static void* enter(void* u) {
#ifdef FIXED
  int now = __atomic_load_n(&inside, __ATOMIC_RELAXED);
  do {
    if (now >= 2) return u;
  } while (
      !__atomic_compare_exchange_n(&inside, &now, now + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  const int mine = now + 1;
#else
  if (__atomic_load_n(&inside, __ATOMIC_RELAXED) >= 2) return u;
  const int mine = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
#endif
  if (mine > most) most = mine;
  __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  return u;
}
int main(void) {
  RUN(enter, enter, enter, enter);
  REQUIRE(most <= 2);
  return 0;
}
