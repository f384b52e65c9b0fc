// Nodes are written over when no reader can have them any more; the racy epoch ends too early.
#include "twin.h"

static int nodes[2] = {1, 2}, current, is_reading;

static void* read_node(void* unused) {
  for (int i = 0; i < 20; ++i) {
    __atomic_store_n(&is_reading, 1, __ATOMIC_SEQ_CST);
    const int at = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
    use(nodes[at]);  // RACE
    __atomic_store_n(&is_reading, 0, __ATOMIC_SEQ_CST);
  }
  return unused;
}

static void* replace(void* unused) {
  for (int i = 0; i < 20; ++i) {
    const int old = __atomic_load_n(&current, __ATOMIC_SEQ_CST);
    __atomic_store_n(&current, !old, __ATOMIC_SEQ_CST);
    while (!RACY && __atomic_load_n(&is_reading, __ATOMIC_SEQ_CST)) sched_yield();
    nodes[old] = i;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(read_node, replace);
  return 0;
}
