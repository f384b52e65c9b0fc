// A lock for readers and writers out of one word: the writer looks whether it is free, and then
// takes it by a store.
#include "planted.h"

static volatile int word, x, y;  // word: readers, or -1

static void lock_read(void) {
  for (;;) {
    int seen = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
    if (seen >= 0 &&
        __atomic_compare_exchange_n(&word, &seen, seen + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return;
  }
}
static void unlock_read(void) { __atomic_sub_fetch(&word, 1, __ATOMIC_SEQ_CST); }

static void lock_write(void) {
  for (;;) {
    int seen = __atomic_load_n(&word, __ATOMIC_SEQ_CST);
    if (seen != 0) continue;
    BUG(__atomic_store_n(&word, -1, __ATOMIC_SEQ_CST); return;)
    FIX(if (__atomic_compare_exchange_n(&word, &seen, -1, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) return;)
  }
}
static void unlock_write(void) { __atomic_add_fetch(&word, 1, __ATOMIC_SEQ_CST); }

static void* read_both(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock_read();
    const int a = x, b = y;
    unlock_read();
    REQUIRE(a == b);
  }
  return unused;
}

static void* write_both(void* unused) {
  lock_write();
  x = x + 1;
  y = y + 1;
  unlock_write();
  return unused;
}

int main(void) {
  RUN(read_both, write_both, read_both);
  return 0;
}
