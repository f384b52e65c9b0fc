// A lock of queued nodes (MCS); the racy program counts behind the hand-over.
#include "twin.h"

struct node {
  struct node* next;
  int waits;
};
static struct node* tail;
static int value;

static void take(struct node* mine) {
  mine->next = NULL;
  mine->waits = 1;
  struct node* before = __atomic_exchange_n(&tail, mine, __ATOMIC_ACQ_REL);
  if (!before) return;
  __atomic_store_n(&before->next, mine, __ATOMIC_RELEASE);
  while (__atomic_load_n(&mine->waits, __ATOMIC_ACQUIRE)) sched_yield();
}

static void give(struct node* mine) {
  struct node* next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE);
  if (!next) {
    struct node* expected = mine;
    if (__atomic_compare_exchange_n(&tail, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return;
    while (!(next = __atomic_load_n(&mine->next, __ATOMIC_ACQUIRE))) sched_yield();
  }
  __atomic_store_n(&next->waits, 0, __ATOMIC_RELEASE);
}

static void* body(void* unused) {
  static __thread struct node mine;
  for (int i = 0; i < 20; ++i) {
    take(&mine);
    if (!RACY) value += 1;
    give(&mine);
    if (RACY) value += 1;  // RACE
  }
  return unused;
}

int main(void) {
  run_threads(3, body);
  use(value);
  return 0;
}
