// A work-stealing deque (Chase, Lev, SPAA 2005): the owner lowers the bottom and reads the top. If
// the store is still on its way, a thief takes what the owner takes.
#include "fence.h"

enum { kItems = 3 };
static long top, bottom;
static int items[kItems], taken[kItems];

static void use(int item) { REQUIRE(__atomic_add_fetch(&taken[item], 1, __ATOMIC_RELAXED) == 1); }

static int take(int* item) {
  const long last = LOAD(bottom) - 1;
  STORE(bottom, last);
  FENCE();
  long first = LOAD(top);
  if (first > last) {
    STORE(bottom, last + 1);
    return 0;
  }
  *item = items[last];
  if (first < last) return 1;
  const int won =
      __atomic_compare_exchange_n(&top, &first, first + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  STORE(bottom, last + 1);
  return won;
}

static void* own(void* unused) {
  for (int i = 0; i < kItems; i++) {
    items[i] = i;
    STORE(bottom, i + 1L);
  }
  int item;
  while (take(&item)) use(item);
  return unused;
}

static void* steal(void* unused) {
  for (int i = 0; i < kItems; i++) {
    long first = LOAD(top);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (first >= LOAD(bottom)) continue;
    const int item = items[first];
    if (__atomic_compare_exchange_n(&top, &first, first + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      use(item);
  }
  return unused;
}

int main(void) {
  RUN(own, steal);
  return 0;
}
