// A driver is stopped: new requests are refused, and those under way are awaited. A worker looks
// whether it is stopped before it counts itself.
#include "planted.h"

static int is_stopping, pending = 1, is_gone;
static pthread_cond_t drained = PTHREAD_COND_INITIALIZER;
static int is_drained;

static void leave(void) {
  if (__atomic_sub_fetch(&pending, 1, __ATOMIC_SEQ_CST) != 0) return;
  lock();
  is_drained = 1;
  pthread_cond_signal(&drained);
  unlock();
}

static int enter(void) {
  BUG(if (__atomic_load_n(&is_stopping, __ATOMIC_SEQ_CST)) return 0;)
  FIX(lock(); const int stops = is_stopping;
      if (!stops) __atomic_add_fetch(&pending, 1, __ATOMIC_SEQ_CST); unlock(); return !stops;)
  BUG(__atomic_add_fetch(&pending, 1, __ATOMIC_SEQ_CST);)
  return 1;
}

static void* worker(void* unused) {
  for (int i = 0; i < 3; i++) {
    if (!enter()) break;
    REQUIRE(!__atomic_load_n(&is_gone, __ATOMIC_SEQ_CST));
    leave();
  }
  return unused;
}

static void* stop(void* unused) {
  FIX(lock();)
  __atomic_store_n(&is_stopping, 1, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  leave();
  lock();
  while (!is_drained) pthread_cond_wait(&drained, &g_lock);
  unlock();
  __atomic_store_n(&is_gone, 1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(worker, worker, stop, worker, worker);
  return 0;
}
