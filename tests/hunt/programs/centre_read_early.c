// One thread opens new centres, the others read how many there are after the barrier that comes
// before the opening instead of the one behind.
#include "planted.h"

enum { kThreads = 4 };
static pthread_barrier_t barrier;
static volatile int centres;

static void* cluster(void* number) {
  pthread_barrier_wait(&barrier);
  if ((long)number == kThreads - 1) centres = 5;
  FIX(pthread_barrier_wait(&barrier);)
  REQUIRE(centres == 5);
  BUG(pthread_barrier_wait(&barrier);)
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, kThreads);
  RUN(cluster, cluster, cluster, cluster);
  return 0;
}
