// A reader walks a list without the lock under which a writer takes the first node out and frees
// it.
#include "planted.h"

struct Node {
  struct Node* volatile next;
  int value;
};
static struct Node* volatile head;

static void* sum(void* unused) {
  int total = 0;
  FIX(lock();)
  for (const struct Node* node = head; node; node = node->next) total += node->value;
  FIX(unlock();)
  REQUIRE(total >= 0);
  return unused;
}

static void* take(void* unused) {
  lock();
  struct Node* const first = head;
  head = first->next;
  unlock();
  free(first);
  return unused;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    struct Node* const node = malloc(sizeof *node);
    node->value = i;
    node->next = head;
    head = node;
  }
  RUN(sum, take);
  return 0;
}
