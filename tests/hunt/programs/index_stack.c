// A stack of indices without locks, with a count beside it. A head that has come back is taken for
// one that has never gone, which shows only where three threads take and put in turn.
#include "planted.h"

enum { kCells = 3, kRounds = 2 };
static int next[kCells] = {1, 2, -1}, head, count = kCells;
static int used[kCells];

static int pop(void) {
  while (__atomic_load_n(&count, __ATOMIC_SEQ_CST) > 1) {
    const int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
    const int second = __atomic_exchange_n(&next[first], -1, __ATOMIC_SEQ_CST);
    if (second < 0) continue;
    int expected = first;
    if (__atomic_compare_exchange_n(&head, &expected, second, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      __atomic_sub_fetch(&count, 1, __ATOMIC_SEQ_CST);
      return first;
    }
    __atomic_exchange_n(&next[first], second, __ATOMIC_SEQ_CST);
  }
  return -1;
}

static void push(int cell) {
  int first;
  do {
    first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
    __atomic_store_n(&next[cell], first, __ATOMIC_SEQ_CST);
  } while (
      !__atomic_compare_exchange_n(&head, &first, cell, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
}

static void* work(void* unused) {
  for (int i = 0; i < kRounds; i++) {
    int cell;
    FIX(lock();)
    do { cell = pop(); } while (BUG(cell < 0) FIX(0));
    FIX(if (cell < 0) {
      unlock();
      continue;
    })
    REQUIRE(__atomic_add_fetch(&used[cell], 1, __ATOMIC_SEQ_CST) == 1);
    __atomic_sub_fetch(&used[cell], 1, __ATOMIC_SEQ_CST);
    push(cell);
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  RUN(work, work, work);
  return 0;
}
