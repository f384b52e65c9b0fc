// An event count: the key is drawn after the condition is looked at, so that a notice between is
// lost.
#include "planted.h"

static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int epoch, ready;

static void* wait_for(void* unused) {
  for (;;) {
    FIX(lock(); const int key = epoch; unlock();)
    if (__atomic_load_n(&ready, __ATOMIC_SEQ_CST)) return unused;
    BUG(lock(); const int key = epoch; unlock();)
    lock();
    while (epoch == key) pthread_cond_wait(&moved, &g_lock);
    unlock();
  }
}

static void* notify(void* unused) {
  __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
  lock();
  epoch++;
  pthread_cond_broadcast(&moved);
  unlock();
  return unused;
}

int main(void) {
  RUN(wait_for, notify, wait_for);
  return 0;
}
