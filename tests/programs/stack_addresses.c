// Addresses of locals are passed up and down a tree of threads, which read and write through them.
#include "program.h"

struct Node {
  int depth;
  int value;
  struct Node* parent;
};

static void* body(void* argument) {
  struct Node* mine = (struct Node*)argument;
  struct Node children[2];
  pthread_t threads[2];
  if (mine->depth == 0) {
    mine->value = 1;
    for (struct Node* up = mine; up; up = up->parent) CHECK(up->depth >= mine->depth);
    return NULL;
  }
  for (int i = 0; i < 2; ++i) {
    children[i] = (struct Node){mine->depth - 1, 0, mine};
    CHECK_EQ(pthread_create(&threads[i], NULL, body, &children[i]), 0);
  }
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  mine->value = children[0].value + children[1].value + 1;
  return NULL;
}

int main(void) {
  struct Node root = {4, 0, NULL};
  body(&root);
  CHECK_EQ(root.value, 31);
  printf("nodes %d\n", root.value);
  return 0;
}
