// A pointer's target is read only if the pointer is the thread's own.
#include "twin.h"

struct node {
  int value, owner;
};
static struct node nodes[2] = {{1, 0}, {2, RACY ? 0 : 1}};
static int results[2];

static void* body(void* number) {
  const int me = (int)(long)number;
  int sum = 0;
  for (int i = 0; i < 2; ++i) {
    const struct node* node = &nodes[i];
    sum += node->owner == me ? node->value : 0;  // RACE
  }
  results[me] = sum;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, (void*)0);
  nodes[1].value = 7;  // RACE
  join(one);
  use(results[0]);
  return 0;
}
