// A free list of nodes with a hazard word that is set after the pointer is read, and not compared
// again.
#include "planted.h"

struct Node {
  struct Node* next;
  int value;
};
static struct Node nodes[2] = {{NULL, 1}, {NULL, 2}};
static struct Node *top = &nodes[0], *hazard;

static void* reader(void* unused) {
  struct Node* it;
  do {
    it = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
    __atomic_store_n(&hazard, it, __ATOMIC_SEQ_CST);
  } while (FIX(it != __atomic_load_n(&top, __ATOMIC_SEQ_CST)) BUG(0));
  if (it) REQUIRE(__atomic_load_n(&it->value, __ATOMIC_SEQ_CST) > 0);
  __atomic_store_n(&hazard, NULL, __ATOMIC_SEQ_CST);
  return unused;
}

static void* remover(void* unused) {
  struct Node* const it = __atomic_exchange_n(&top, &nodes[1], __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&hazard, __ATOMIC_SEQ_CST) == it) sched_yield();
  __atomic_store_n(&it->value, -1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(reader, remover);
  return 0;
}
