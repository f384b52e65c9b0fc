// A transaction is committed by one thread and aborted by another, each by a look and a store.
#include "planted.h"

static int state, committed, aborted;

static int change(int to) {
  int open = 0;
  BUG(if (__atomic_load_n(&state, __ATOMIC_SEQ_CST) != open) return 0;
      __atomic_store_n(&state, to, __ATOMIC_SEQ_CST); return 1;)
  FIX(return __atomic_compare_exchange_n(&state, &open, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);)
}

static void* commit(void* unused) {
  if (change(1)) committed = 1;
  return unused;
}

static void* cancel(void* unused) {
  if (change(2)) aborted = 1;
  return unused;
}

int main(void) {
  RUN(commit, cancel);
  REQUIRE(committed + aborted == 1);
  return 0;
}
