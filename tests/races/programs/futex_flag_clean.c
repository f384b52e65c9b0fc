// A futex word is stored with release and loaded with acquire; the kernel only puts to sleep and wakes.
#include "program.h"

#include <linux/futex.h>
#include <sys/syscall.h>

int word, data;
static void* waiter(void* unused) {
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  use(data);
  return unused;
}

static void* waker(void* unused) {
  pause_ms(1);
  data = 3;
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return unused;
}

int main(void) {
  run_two(waiter, waker);
  return 0;
}
