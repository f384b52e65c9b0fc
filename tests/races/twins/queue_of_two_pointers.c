// A queue of Michael and Scott; the racy producer fills a node in behind the exchange.
#include "twin.h"

struct node {
  struct node* next;
  int value;
};
static struct node *head, *tail;

static void put(struct node* node) {
  for (;;) {
    struct node* last = __atomic_load_n(&tail, __ATOMIC_ACQUIRE);
    struct node* next = __atomic_load_n(&last->next, __ATOMIC_ACQUIRE);
    if (next) {
      __atomic_compare_exchange_n(&tail, &last, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      continue;
    }
    if (__atomic_compare_exchange_n(&last->next, &next, node, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      __atomic_compare_exchange_n(&tail, &last, node, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
      return;
    }
  }
}

static void* producer(void* unused) {
  for (int i = 0; i < 10; ++i) {
    struct node* node = calloc(1, sizeof *node);
    if (!RACY) node->value = i;
    put(node);
    if (RACY) node->value = i;  // RACE
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int taken = 0; taken < 10;) {
    struct node* first = __atomic_load_n(&head, __ATOMIC_ACQUIRE);
    struct node* next = __atomic_load_n(&first->next, __ATOMIC_ACQUIRE);
    if (!next) {
      sched_yield();
      continue;
    }
    __atomic_store_n(&head, next, __ATOMIC_RELEASE);
    pause_ms(RACY);
    use(next->value);  // RACE
    taken++;
  }
  return unused;
}

int main(void) {
  head = tail = calloc(1, sizeof *head);
  run_two(producer, consumer);
  return 0;
}
