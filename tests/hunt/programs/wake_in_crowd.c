// A waiter looks at a flag, and then waits; the flag is set and told in between. Two other threads
// take and give the same lock all the while, so a schedule that shows it has many switches.
#include "planted.h"

static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int is_ready, work_done;

static void* wait_ready(void* unused) {
  BUG(if (!__atomic_load_n(&is_ready, __ATOMIC_SEQ_CST)) {
    lock();
    pthread_cond_wait(&told, &g_lock);
    unlock();
  })
  FIX(lock(); while (!is_ready) pthread_cond_wait(&told, &g_lock); unlock();)
  return unused;
}

static void* make_ready(void* unused) {
  lock();
  __atomic_store_n(&is_ready, 1, __ATOMIC_SEQ_CST);
  pthread_cond_signal(&told);
  unlock();
  return unused;
}

static void* busy(void* unused) {
  for (int i = 0; i < 60; i++) {
    lock();
    work_done++;
    unlock();
    if (i % 8 == 0) sched_yield();
  }
  return unused;
}

int main(void) {
  RUN(wait_ready, busy, busy, make_ready);
  REQUIRE(work_done == 120);
  return 0;
}
