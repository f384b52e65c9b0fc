// One condition for "not full" and "not empty", with signal: it may wake one of its own kind.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void* put(void* unused) {
  lock();
  while (full) pthread_cond_wait(&changed, &g_lock);
  full = 1;
  BUG(pthread_cond_signal(&changed);)
  FIX(pthread_cond_broadcast(&changed);)
  unlock();
  return unused;
}

static void* take(void* unused) {
  lock();
  while (!full) pthread_cond_wait(&changed, &g_lock);
  full = 0;
  BUG(pthread_cond_signal(&changed);)
  FIX(pthread_cond_broadcast(&changed);)
  unlock();
  return unused;
}

int main(void) {
  RUN(take, take, put, put, take, put);
  return 0;
}
