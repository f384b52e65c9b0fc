// A lock-free stack: pop reads the head's successor, the same head comes back meanwhile with
// another successor, and the exchange succeeds.
#include "planted.h"

struct Node {
  int next;  // index + 1; 0: none
  int uses;
};
static struct Node nodes[3];
static uint64_t head;  // low half: index + 1; FIXED: the high half counts

static uint64_t with_count(uint64_t old, uint32_t index) {
  FIX(return ((old >> 32) + 1) << 32 | index;)
  BUG((void)old; return index;)
}

static void push(int index) {
  uint64_t old = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
  do nodes[index].next = (int)(uint32_t)old;
  while (!__atomic_compare_exchange_n(&head, &old, with_count(old, (uint32_t)index + 1), 0,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static int pop(void) {
  uint64_t old = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
  for (;;) {
    const uint32_t index = (uint32_t)old;
    if (index == 0) return -1;
    const uint32_t next = (uint32_t) * (volatile int*)&nodes[index - 1].next;
    if (__atomic_compare_exchange_n(&head, &old, with_count(old, next), 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      REQUIRE(__atomic_add_fetch(&nodes[index - 1].uses, 1, __ATOMIC_SEQ_CST) == 1);
      return (int)index - 1;
    }
  }
}

static void give_back(int index) {
  __atomic_sub_fetch(&nodes[index].uses, 1, __ATOMIC_SEQ_CST);
  push(index);
}

static void* pop_two(void* unused) {
  pop();
  pop();
  return unused;
}

static void* shuffle(void* unused) {
  const int first = pop(), second = pop();
  if (first >= 0) give_back(first);
  (void)second;  // stays with this thread
  return unused;
}

int main(void) {
  for (int i = 2; i >= 0; i--) push(i);
  RUN(pop_two, shuffle);
  return 0;
}
