// The flag is set without the lock: between the waiter's look and its wait the signal is lost.
#include "planted.h"

static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static volatile int is_ready;

static void* wait_for_flag(void* unused) {
  lock();
  while (!is_ready) pthread_cond_wait(&ready, &g_lock);
  unlock();
  return unused;
}

static void* set_flag(void* unused) {
  FIX(lock();)
  is_ready = 1;
  pthread_cond_signal(&ready);
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(wait_for_flag, set_flag);
  return 0;
}
