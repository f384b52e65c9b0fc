// Two flags and a turn, plain, are to keep two threads apart: plain accesses race themselves.
#include "twin.h"

static int wants[2], turn;
static long shared;

#if RACY
static int look(const int* from) { return *(const volatile int*)from; }  // RACE
static void put(int* to, int value) { *(volatile int*)to = value; }      // RACE
#else
static int look(const int* from) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
static void put(int* to, int value) { __atomic_store_n(to, value, __ATOMIC_SEQ_CST); }
#endif

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int i = 0; i < 5; ++i) {
    put(&wants[me], 1);
    put(&turn, !me);
    while (look(&wants[!me]) && look(&turn) == !me) sched_yield();
    shared += me;  // RACE
    put(&wants[me], 0);
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(shared);
  return 0;
}
