// A hand-made futex mutex of the well-known kind with three states: 0 free, 1 taken, 2 taken and waited for.
#include "program.h"

#include <linux/futex.h>
#include <sys/syscall.h>

int word, value;
static void lock(void) {
  int seen = 0;
  if (__atomic_compare_exchange_n(&word, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  while (__atomic_exchange_n(&word, 2, __ATOMIC_ACQUIRE) != 0)
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void) {
  if (__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) == 2)
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void* body(void* forgetful) {
  for (int i = 0; i < 200; ++i) {
    if (!forgetful) lock();
    value += i;
    if (!forgetful) unlock();
    use(i);
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, NULL);
  join(one);
  join(two);
  return 0;
}
