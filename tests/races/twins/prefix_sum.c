// Prefix sums: each thread its block, then the blocks' ends, then all. Racy: no barrier before the last.
#include "twin.h"

enum { kThreads = 3, kEach = 8 };
static int sums[kThreads * kEach], ends[kThreads];
static pthread_barrier_t barrier;

static void* body(void* number) {
  const int me = (int)(long)number;
  int* mine = sums + me * kEach;
  for (int i = 1; i < kEach; ++i) mine[i] += mine[i - 1];
  ends[me] = mine[kEach - 1];  // RACE
  if (!RACY) pthread_barrier_wait(&barrier);
  int before = 0;
  for (int i = 0; i < me; ++i) before += ends[i];  // RACE
  for (int i = 0; i < kEach; ++i) mine[i] += before;
  return NULL;
}

int main(void) {
  for (int i = 0; i < kThreads * kEach; ++i) sums[i] = i;
  pthread_barrier_init(&barrier, NULL, kThreads);
  run_threads(kThreads, body);
  use(sums[20]);
  return 0;
}
