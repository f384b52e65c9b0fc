// Sleepers are moved from one futex to another by FUTEX_CMP_REQUEUE and woken there.
#include "twin.h"

#include <linux/futex.h>
#include <sys/syscall.h>

static int gate, lock_word, value;

static long futex(int* word, int what, int number, long other, int* target, int expected) {
  return syscall(SYS_futex, word, what, number, other, target, expected);
}

static void* sleeper(void* unused) {
  while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE)) futex(&gate, FUTEX_WAIT, 0, 0, NULL, 0);
  use(value);  // RACE
  return unused;
}

int main(void) {
  pthread_t one = start(sleeper, NULL), two = start(sleeper, NULL);
  pause_ms(20);
  if (!RACY) value = 3;
  __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
  futex(&gate, FUTEX_CMP_REQUEUE, 1, 10, &lock_word, 1);
  pause_ms(10);
  futex(&lock_word, FUTEX_WAKE, 10, 0, NULL, 0);
  if (RACY) value = 3;  // RACE
  join(one);
  join(two);
  return 0;
}
