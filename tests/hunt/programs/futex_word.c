// A lock of its own by futex: who unlocks looks whether somebody waits before it gives the lock up.
#include <linux/futex.h>
#include <sys/syscall.h>

#include "planted.h"

static int word, waiters, count;

static void take(void) {
  while (__atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST)) {
    __atomic_add_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
    __atomic_sub_fetch(&waiters, 1, __ATOMIC_SEQ_CST);
  }
}

static void give(void) {
  BUG(const int must_wake = __atomic_load_n(&waiters, __ATOMIC_SEQ_CST);)
  __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
  FIX(const int must_wake = __atomic_load_n(&waiters, __ATOMIC_SEQ_CST);)
  if (must_wake) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void* work(void* unused) {
  take();
  count++;
  give();
  return unused;
}

int main(void) {
  RUN(work, work);
  REQUIRE(count == 2);
  return 0;
}
