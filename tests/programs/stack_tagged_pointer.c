// A lock-free stack with a counted head, changed by 16-byte compare-and-swap, loses and doubles no
// node.
#include "program.h"

enum { kEach = 40, kRounds = 3 };
struct Node {
  struct Node* next;
  int value;
};
typedef union {
  struct {
    struct Node* top;
    uint64_t count;
  };
  unsigned __int128 whole;
} Head;

static Head head __attribute__((aligned(16)));
static struct Node nodes[kMaxThreads * kEach];
static int popped[kMaxThreads * kEach];

static Head look(void) {
  Head now;
  now.count = __atomic_load_n(&head.count, __ATOMIC_ACQUIRE);
  now.top = __atomic_load_n(&head.top, __ATOMIC_ACQUIRE);  // A torn pair fails the swap.
  return now;
}

__attribute__((target("cx16"))) static void push(struct Node* node) {
  Head old, new_head;
  do {
    old = look();
    node->next = old.top;
    new_head.top = node;
    new_head.count = old.count + 1;
  } while (!__sync_bool_compare_and_swap(&head.whole, old.whole, new_head.whole));
}

__attribute__((target("cx16"))) static struct Node* pop(void) {
  Head old, new_head;
  do {
    old = look();
    if (!old.top) return NULL;
    new_head.top = __atomic_load_n(&old.top->next, __ATOMIC_RELAXED);
    new_head.count = old.count + 1;
  } while (!__sync_bool_compare_and_swap(&head.whole, old.whole, new_head.whole));
  return old.top;
}

static void* body(void* number) {
  for (int i = 0; i < kEach; ++i) {
    nodes[(long)number * kEach + i].value = (int)(long)number * kEach + i;
    push(&nodes[(long)number * kEach + i]);
    for (int k = 0; k < kRounds; ++k) {
      struct Node* node = pop();
      if (node && k == kRounds - 1) __atomic_fetch_add(&popped[node->value], 1, __ATOMIC_RELAXED);
      else if (node) push(node);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  for (struct Node* node; (node = pop());) ++popped[node->value];
  for (int i = 0; i < threads * kEach; ++i) CHECK_EQ(popped[i], 1);
  printf("nodes %d\n", threads * kEach);
  return 0;
}
