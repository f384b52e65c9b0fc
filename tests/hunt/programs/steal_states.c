// A work-stealing queue: the owner takes from the bottom, two thieves from the top. The owner's
// check of the last element comes without the exchange that thieves make.
#include "planted.h"

enum { kItems = 4 };
static long top, bottom;
static int items[kItems], times[kItems];

static void work(int item) { REQUIRE(__atomic_add_fetch(&times[item], 1, __ATOMIC_SEQ_CST) == 1); }

static void* steal(void* unused) {
  for (int i = 0; i < 2; i++) {
    long t = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
    if (t >= __atomic_load_n(&bottom, __ATOMIC_SEQ_CST)) continue;
    const int item = __atomic_load_n(&items[t], __ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(&top, &t, t + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      work(item);
  }
  return unused;
}

static void* own(void* unused) {
  for (int i = 0; i < kItems; i++) {
    __atomic_store_n(&items[i], i, __ATOMIC_SEQ_CST);
    __atomic_store_n(&bottom, i + 1, __ATOMIC_SEQ_CST);
  }
  for (;;) {
    const long b = __atomic_sub_fetch(&bottom, 1, __ATOMIC_SEQ_CST);
    long t = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
    if (t > b) break;
    const int item = __atomic_load_n(&items[b], __ATOMIC_SEQ_CST);
    if (t == b) {
      BUG(__atomic_store_n(&top, t + 1, __ATOMIC_SEQ_CST); work(item);)
      FIX(if (__atomic_compare_exchange_n(&top, &t, t + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
              work(item);)
      break;
    }
    work(item);
  }
  return unused;
}

int main(void) {
  RUN(own, steal, steal);
  return 0;
}
