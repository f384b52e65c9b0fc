// Workers count the jobs that are left without a lock; who waits for zero waits for ever.
#include "planted.h"
static int pending = 4;
static pthread_cond_t none = PTHREAD_COND_INITIALIZER;
static void* work(void* u) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();) pending--;
    FIX(unlock();) lock();
    if (pending == 0) pthread_cond_broadcast(&none);
    unlock();
  }
  return u;
}
static void* waiter(void* u) {
  lock();
  while (pending) pthread_cond_wait(&none, &g_lock);
  unlock();
  return u;
}
int main(void) {
  RUN(work, work, waiter);
  return 0;
}
