// Waits for a thread with a lock that this thread still needs, if it comes late.
#include <sched.h>

#include "planted.h"

static volatile int is_done;

static void* work(void* unused) {
  lock();
  unlock();
  is_done = 1;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 4 && !is_done; i++) sched_yield();
  lock();
  FIX(unlock();)
  pthread_join(thread, NULL);
  BUG(unlock();)
  return 0;
}
