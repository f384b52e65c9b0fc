// The lock of a node is found from a member's address; the racy program takes the next node's.
#include "twin.h"

#include <stddef.h>

struct node {
  pthread_mutex_t lock;
  int count;
  int links[2];
};
static struct node nodes[3];

static struct node* node_of(int* link) {
  return (struct node*)((char*)link - offsetof(struct node, links));
}

static void* body(void* number) {
  struct node* node = node_of(nodes[1].links);
  pthread_mutex_t* lock = &node[RACY && (long)number].lock;
  pause_ms(5 * (int)(long)number);
  pthread_mutex_lock(lock);
  node->count += 1;  // RACE
  pthread_mutex_unlock(lock);
  return NULL;
}

int main(void) {
  for (int i = 0; i < 3; ++i) pthread_mutex_init(&nodes[i].lock, NULL);
  run_threads(2, body);
  use(nodes[1].count);
  return 0;
}
