// Threads walk one graph; whether a node has been seen they ask and say without a lock.
#include "twin.h"

enum { kNodes = 64 };
static int seen[kNodes], order[2][kNodes];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void walk(long me, int node, int* count) {
  guard(&mutex);
  const int is_new = !seen[node];  // RACE
  seen[node] = 1;                  // RACE
  unguard(&mutex);
  if (!is_new) return;
  order[me][(*count)++ % kNodes] = node;
  if (2 * node + 2 >= kNodes) return;
  walk(me, 2 * node + 1, count);
  walk(me, 2 * node + 2, count);
}

static void* body(void* number) {
  int count = 0;
  walk((long)number, 0, &count);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(order[0][0] + order[1][0]);
  return 0;
}
