// Looked up in a list under the lock, removed and freed under it again: two threads find the same.
#include "planted.h"

struct Node {
  struct Node* next;
  int key;
};
static struct Node* head;

static struct Node** find(int key) {
  struct Node** at = &head;
  while (*at && (*at)->key != key) at = &(*at)->next;
  return at;
}

static void* drop(void* unused) {
  lock();
  struct Node** at = find(2);
  struct Node* const node = *at;
  BUG(unlock(); lock();)
  if (node) {
    *at = node->next;
    free(node);
  }
  unlock();
  return unused;
}

int main(void) {
  for (int key = 1; key <= 3; key++) {
    struct Node* const node = malloc(sizeof *node);
    node->key = key;
    node->next = head;
    head = node;
  }
  RUN(drop, drop);
  return 0;
}
