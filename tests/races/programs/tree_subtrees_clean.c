// Two threads add up the two subtrees, and each writes its sum to the root of its subtree.
#include "program.h"

int tree[128];
static int add(int node) {
  if (node >= 64) return tree[node];
  return add(2 * node) + add(2 * node + 1);
}

static void* body(void* argument) {
  int node = *(int*)argument;
  tree[node] = add(node);
  return NULL;
}

int main(void) {
  int left = 2, right = 3;
  for (int i = 64; i < 128; ++i) tree[i] = i;
  pthread_t one = start(body, &left), two = start(body, &right);
  join(one);
  join(two);
  return tree[2] + tree[3] != 6112;
}
