// A futex wakes the waiter, but the word is stored relaxed before the data is written.
#include "program.h"

#include <linux/futex.h>
#include <sys/syscall.h>

int word, data;
static void* waiter(void* unused) {
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  use(data);  // RACE
  return unused;
}

static void* waker(void* unused) {
  pause_ms(1);
  __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  data = 3;  // RACE
  return unused;
}

int main(void) {
  run_two(waiter, waker);
  return 0;
}
