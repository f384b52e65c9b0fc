// Eight threads meet between two phases. The last to arrive lets the others go before it has reset
// the count, so one that is fast is counted into the phase before.
#include "planted.h"

enum { kCount = 8 };
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived, phase;
static volatile int done[2];

static void meet(void) {
  lock();
  const int mine = phase;
  if (++arrived == kCount) {
    FIX(arrived = 0;)
    phase++;
    pthread_cond_broadcast(&all_here);
    BUG(unlock(); lock(); arrived = 0;)
  } else {
    while (phase == mine) pthread_cond_wait(&all_here, &g_lock);
  }
  unlock();
}

static void* work(void* unused) {
  for (int i = 0; i < 2; i++) {
    __atomic_add_fetch(&done[i], 1, __ATOMIC_SEQ_CST);
    meet();
    REQUIRE(done[i] == kCount);
  }
  return unused;
}

int main(void) {
  run_many(kCount, work, 0, NULL);
  return 0;
}
