// Two threads make binary trees and take them apart: all blocks from one site.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct Node {
  struct Node *left, *right;
};

static struct Node* make(int depth) {
  struct Node* const node = malloc(sizeof *node);
  node->left = depth ? make(depth - 1) : NULL;
  node->right = depth ? make(depth - 1) : NULL;
  return node;
}

static long take_apart(struct Node* node) {
  if (!node) return 0;
  const long count = 1 + take_apart(node->left) + take_apart(node->right);
  free(node);
  return count;
}

static void* work(void* count) {
  for (int i = 0; i < 20; i++) *(long*)count += take_apart(make(12));
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  long counts[2] = {0};
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &counts[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", counts[0] + counts[1]);
}
