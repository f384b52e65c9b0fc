// A work-stealing deque with interlocked exchanges: the owner takes its last item by moving the
// tail, and looks at a head that it has read before.
#include "planted.h"

enum { kItems = 4 };
static int head, tail, taken[kItems];

static void take(int i) { REQUIRE(__atomic_add_fetch(&taken[i], 1, __ATOMIC_SEQ_CST) == 1); }

static void* own(void* unused) {
  for (int i = 0; i < kItems; i++) __atomic_add_fetch(&tail, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    FIX(lock();)
    const int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
    const int last = __atomic_load_n(&tail, __ATOMIC_SEQ_CST) - 1;
    if (first > last) {
      FIX(unlock();)
      break;
    }
    __atomic_exchange_n(&tail, last, __ATOMIC_SEQ_CST);
    take(last);
    FIX(unlock();)
  }
  return unused;
}

static void* thieve(void* unused) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();)
    int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
    if (first < __atomic_load_n(&tail, __ATOMIC_SEQ_CST) &&
        __atomic_compare_exchange_n(&head, &first, first + 1, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      take(first);
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  RUN(own, thieve);
  return 0;
}
