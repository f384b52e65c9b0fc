// A lock in which each waits for the node before its own (CLH); one thread takes another lock.
#include "twin.h"

struct lock {
  int* tail;
};
static struct lock locks[2];
static int values[4];

static int* take(struct lock* lock, int* mine) {
  __atomic_store_n(mine, 1, __ATOMIC_RELAXED);
  int* before = __atomic_exchange_n(&lock->tail, mine, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(before, __ATOMIC_ACQUIRE)) sched_yield();
  return before;
}

static void* body(void* number) {
  struct lock* lock = &locks[RACY && (long)number == 1];
  int* mine = malloc(64);
  for (int i = 0; i < 20; ++i) {
    int* before = take(lock, mine);
    values[1] += i;  // RACE
    __atomic_store_n(mine, 0, __ATOMIC_RELEASE);
    mine = before;
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < 2; ++i) locks[i].tail = calloc(1, 64);
  run_threads(2, body);
  use(values[1]);
  return 0;
}
