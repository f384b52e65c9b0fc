// A hazard pointer (Michael, PODC 2002): the reader says what it reads, and looks whether that is
// still there. The writer, who takes it away, may not see yet what the reader has said.
#include "fence.h"

typedef struct {
  int value;
} Node;
static Node nodes[2] = {{1}, {1}};
static Node *head = &nodes[0], *hazard;

static void* read_it(void* unused) {
  for (;;) {
    Node* const node = LOAD(head);
    STORE(hazard, node);
    FENCE();
    if (LOAD(head) != node) continue;
    REQUIRE(LOAD(node->value) == 1);
    STORE(hazard, (Node*)NULL);
    return unused;
  }
}

static void* replace(void* unused) {
  Node* const old = __atomic_exchange_n(&head, &nodes[1], __ATOMIC_SEQ_CST);
  if (LOAD(hazard) != old) STORE(old->value, 0);  // it is freed
  return unused;
}

int main(void) {
  RUN(read_it, replace);
  return 0;
}
