// A ticket lock with a counter of two bits: with four waiting threads two have the same ticket.
#include "planted.h"

static unsigned next_ticket, serving;
static int inside;

static void* take(void* unused) {
  const unsigned mask = FIX(~0u) BUG(3);
  const unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_SEQ_CST) & mask;
  while ((__atomic_load_n(&serving, __ATOMIC_SEQ_CST) & mask) != mine) sched_yield();
  REQUIRE(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
  __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  __atomic_add_fetch(&serving, 1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  run_many(6, take, 0, NULL);
  return 0;
}
