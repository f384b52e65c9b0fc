// Two threads put nodes in front of a list without a lock: a node is lost.
#include "planted.h"

struct Node {
  struct Node* next;
};
static struct Node nodes[2];
static struct Node* volatile head;

static void* push(void* number) {
  struct Node* const node = &nodes[(long)number];
  FIX(lock();)
  node->next = head;
  head = node;
  FIX(unlock();)
  return NULL;
}

int main(void) {
  RUN(push, push);
  int count = 0;
  for (struct Node* one = head; one; one = one->next) count++;
  REQUIRE(count == 2);
  return 0;
}
