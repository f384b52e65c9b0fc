// A parked thread is woken by a permit. The permit is set without the lock that is held between
// the look and the wait.
#include "planted.h"

static pthread_cond_t unparked = PTHREAD_COND_INITIALIZER;
static int permit;

static void* park(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    while (!__atomic_exchange_n(&permit, 0, __ATOMIC_SEQ_CST))
      pthread_cond_wait(&unparked, &g_lock);
    unlock();
  }
  return unused;
}

static void* unpark(void* unused) {
  for (int i = 0; i < 2; i++) {
    while (__atomic_load_n(&permit, __ATOMIC_SEQ_CST)) sched_yield();
    FIX(lock();)
    __atomic_store_n(&permit, 1, __ATOMIC_SEQ_CST);
    pthread_cond_signal(&unparked);
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  RUN(park, unpark);
  return 0;
}
