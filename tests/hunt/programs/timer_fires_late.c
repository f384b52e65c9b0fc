// A timer's thread takes an entry out, lets go of the lock and calls it; who cancels in between
// believes that it will not be called.
#include "planted.h"

static int is_armed = 1, is_running, is_dead;

static void* fire(void* unused) {
  lock();
  const int fires = is_armed;
  is_armed = 0;
  FIX(is_running = fires;)
  unlock();
  if (fires) {
    REQUIRE(!__atomic_load_n(&is_dead, __ATOMIC_SEQ_CST));
    lock();
    is_running = 0;
    unlock();
  }
  return unused;
}

static void* cancel(void* unused) {
  lock();
  is_armed = 0;
  while (is_running) {
    unlock();
    sched_yield();
    lock();
  }
  unlock();
  __atomic_store_n(&is_dead, 1, __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(fire, cancel);
  return 0;
}
