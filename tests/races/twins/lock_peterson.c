// Peterson's lock of two threads; the racy program's second thread does not wait.
#include "twin.h"

static int wants[2], turn, value;

static void* body(void* number) {
  const int me = (int)(long)number, other = 1 - me;
  pause_ms(5 * me);
  for (int i = 0; i < 10; ++i) {
    __atomic_store_n(&wants[me], 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&turn, other, __ATOMIC_SEQ_CST);
    while (!(RACY && me) && __atomic_load_n(&wants[other], __ATOMIC_SEQ_CST) &&
           __atomic_load_n(&turn, __ATOMIC_SEQ_CST) == other)
      sched_yield();
    value += 1;  // RACE
    __atomic_store_n(&wants[me], 0, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(value);
  return 0;
}
