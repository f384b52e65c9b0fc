// A stack without a lock: a thread reads the top's successor after another has popped and freed the
// top. (The fixed twin frees nothing before both have ended.)
#include "planted.h"

struct Node {
  struct Node* next;
};
static struct Node* top;
FIX(struct Node* popped[2];)

static struct Node* pop(void) {
  struct Node* first = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
  while (first) {
    struct Node* const next = __atomic_load_n(&first->next, __ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(&top, &first, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return first;
  }
  return NULL;
}

static void* work(void* number) {
  struct Node* const mine = pop();
  BUG(free(mine);)
  FIX(popped[(long)number] = mine;)
  return number;
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    struct Node* const node = malloc(sizeof *node);
    node->next = top;
    top = node;
  }
  RUN(work, work);
  return 0;
}
