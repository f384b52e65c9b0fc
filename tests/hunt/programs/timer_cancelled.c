// A timer is cancelled: who cancels waits until its function does not run, and frees what it works
// on. The timer's thread says that it runs only after it has looked whether it is cancelled.
// What is freed stays readable here, so that the program itself can say what it has seen.
#include "planted.h"

static volatile int is_cancelled, runs, is_freed;

static void* timer(void* unused) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();)
    if (!is_cancelled) {
      BUG(lock();)
      runs = 1;
      unlock();
      REQUIRE(!is_freed);
      lock();
      runs = 0;
      unlock();
    }
    FIX(else unlock();)
  }
  return unused;
}

static void* cancel(void* unused) {
  lock();
  is_cancelled = 1;
  while (runs) {
    unlock();
    usleep(1);
    lock();
  }
  unlock();
  is_freed = 1;
  return unused;
}

int main(void) {
  RUN(timer, cancel);
  return 0;
}
