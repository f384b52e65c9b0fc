// A thread is interrupted: a flag, and a notice if it waits. It clears the flag as it begins to
// work, also one that has just been set.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_interrupted;

static void* work(void* unused) {
  BUG(lock(); is_interrupted = 0; unlock();)
  lock();
  while (!is_interrupted) pthread_cond_wait(&changed, &g_lock);
  unlock();
  return unused;
}

static void* interrupt(void* unused) {
  lock();
  is_interrupted = 1;
  pthread_cond_signal(&changed);
  unlock();
  return unused;
}

int main(void) {
  RUN(work, interrupt);
  return 0;
}
