// A barrier by count, used twice. Who arrives counts itself outside of the lock: an arrival is
// lost, and the others wait for it.
#include "planted.h"

static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static volatile int arrived;

static void wait_for_all(int round) {
  FIX(lock();)
  const int before = arrived;
  arrived = before + 1;
  BUG(lock();)
  if (arrived >= 2 * round) pthread_cond_broadcast(&all_here);
  while (arrived < 2 * round) pthread_cond_wait(&all_here, &g_lock);
  unlock();
}

static void* work(void* unused) {
  wait_for_all(1);
  wait_for_all(2);
  return unused;
}

int main(void) {
  RUN(work, work);
  return 0;
}
