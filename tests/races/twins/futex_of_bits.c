// Two sleepers at one futex wait for different bits of what is woken.
#include "twin.h"

#include <linux/futex.h>
#include <sys/syscall.h>

static int word, letters[2];

static void* sleeper(void* number) {
  const int bit = 1 << (long)number;
  int now;
  while (!((now = __atomic_load_n(&word, __ATOMIC_ACQUIRE)) & bit))
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, now, NULL, NULL, bit);
  pause_ms(RACY ? 10 : 0);
  use(letters[(long)number]);  // RACE
  return NULL;
}

int main(void) {
  pthread_t one = start(sleeper, (void*)0), two = start(sleeper, (void*)1);
  for (int i = 0; i < 2; ++i) {
    pause_ms(10);
    if (!RACY) letters[i] = 1;
    __atomic_fetch_or(&word, 1 << i, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 10, NULL, NULL, 1 << i);
    if (RACY) letters[i] = 1;  // RACE
  }
  join(one);
  join(two);
  return 0;
}
