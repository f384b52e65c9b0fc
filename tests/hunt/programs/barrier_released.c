// A barrier of a condition and a count, as clustering codes have it: the last to come sets the
// count back before the others have left, and one that was slow counts itself again.
#include <sched.h>

#include "planted.h"

enum { kThreads = 3, kRounds = 3 };
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int here, round_number;
static volatile int centre[kRounds];

static void barrier(void) {
  lock();
  FIX(const int mine = round_number;)
  if (++here == kThreads) {
    here = 0;
    round_number++;
    pthread_cond_broadcast(&all_here);
  } else {
    while (BUG(here != 0) FIX(mine == round_number)) pthread_cond_wait(&all_here, &g_lock);
  }
  unlock();
  sched_yield();
}

static void* cluster(void* number) {
  for (int i = 0; i < kRounds; i++) {
    if ((long)number == i % kThreads) centre[i] = 1;
    barrier();
    REQUIRE(centre[i] == 1);
  }
  return NULL;
}

int main(void) {
  RUN(cluster, cluster, cluster);
  return 0;
}
