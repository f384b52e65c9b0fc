// ABA: a stack without locks and without tags. One thread pops and, between its look at the top and
// its exchange, waits for a message; the other one pops two nodes and pushes the first one again,
// each time that it is told to. The exchange then makes a node the top that is in use.
#include <stdatomic.h>

#include "planted.h"

enum { kNodes = 16, kRounds = 6 };

static struct node {
  struct node* next;
  int is_used;
} nodes[kNodes];
static struct node* _Atomic top;

static void push(struct node* node) {
  REQUIRE(node->is_used);
  node->is_used = 0;
  struct node* first = atomic_load(&top);
  do node->next = first;
  while (!atomic_compare_exchange_weak(&top, &first, node));
}

// `requester`: in the middle it waits for its message's second part, if it is one.
static struct node* pop(int requester) {
  struct second_part second;
  for (;;) {
    struct node* first = atomic_load(&top);
    if (!first) return NULL;
    struct node* next = first->next;
    if (requester >= 0 && !receive(requester, &second, sizeof second)) return NULL;
    requester = -1;
    if (!atomic_compare_exchange_strong(&top, &first, next))
      continue;  // the bug: it may be the top again, with another below
    REQUIRE(!first->is_used);
    first->is_used = 1;
    return first;
  }
}

static void* pop_slowly(void* argument) {
  struct first_part first;
  const int requester = (int)(intptr_t)argument;
  while (receive(requester, &first, sizeof first)) {
    struct node* node = pop(requester);
    if (!node) break;
    push(node);
  }
  return NULL;
}

static void* pop_twice(void* argument) {
  struct first_part first;
  struct second_part second;
  const int requester = (int)(intptr_t)argument;
  while (receive(requester, &first, sizeof first)) {
    struct node *one = pop(-1), *two = pop(-1);
    REQUIRE(one && two);
    push(one);
    if (!receive(requester, &second, sizeof second)) break;
    push(two);
  }
  return NULL;
}

int main(void) {
  report_crashes();
  int requesters[2];
  for (int i = 0; i < 2; i++) requesters[i] = start_sender(kRounds, 0, 20000, i == 0 ? 400 : 800);
  for (int i = 0; i < kNodes; i++) {
    nodes[i].is_used = 1;
    push(&nodes[i]);
  }
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, pop_slowly, (void*)(intptr_t)requesters[0]);
  pthread_create(&threads[1], NULL, pop_twice, (void*)(intptr_t)requesters[1]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  int count = 0;
  for (struct node* node = top; node; node = node->next) {
    REQUIRE(!node->is_used && count < kNodes);
    count++;
  }
  REQUIRE(count == kNodes);
  printf("%d nodes\n", count);
  return 0;
}
