// A queue without locks whose nodes come from a pool of three and have no counts: the head comes
// back under a thread that is about to swing it.
#include "planted.h"

enum { kNodes = 4, kEach = 3 };
struct Node {
  int next, value;
};
static struct Node nodes[kNodes];
static int head, tail, free_list = 1, taken[2 * kEach + 1];

static int allocate(void) {
  lock();
  const int node = free_list;
  if (node) free_list = nodes[node].next;
  unlock();
  return node;
}
static void release(int node) {
  lock();
  nodes[node].next = free_list;
  free_list = node;
  unlock();
}

static void put(int value) {
  const int node = allocate();
  if (!node) return;
  nodes[node].value = value;
  __atomic_store_n(&nodes[node].next, 0, __ATOMIC_SEQ_CST);
  lock();
  nodes[tail].next = node;
  tail = node;
  unlock();
}

static void take(void) {
  FIX(lock();)
  int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
  const int next = __atomic_load_n(&nodes[first].next, __ATOMIC_SEQ_CST);
  int is_taken = 0, value = 0;
  if (next && first != __atomic_load_n(&tail, __ATOMIC_SEQ_CST)) {
    value = nodes[next].value;
    is_taken =
        __atomic_compare_exchange_n(&head, &first, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  FIX(unlock();)
  if (!is_taken) return;
  REQUIRE(__atomic_add_fetch(&taken[value], 1, __ATOMIC_SEQ_CST) == 1);
  if (first) release(first);
}

static void* use(void* number) {
  for (int i = 0; i < kEach; i++) {
    put((int)(long)number * kEach + i + 1);
    take();
  }
  return NULL;
}

int main(void) {
  for (int i = 1; i < kNodes - 1; i++) nodes[i].next = i + 1;
  RUN(use, use);
  return 0;
}
