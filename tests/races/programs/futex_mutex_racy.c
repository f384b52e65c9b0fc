// A hand-made futex mutex that one of the two threads forgets to take.
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
    value += i;  // RACE
    if (!forgetful) unlock();
    use(i);
  }
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, &value);
  join(one);
  join(two);
  return 0;
}
