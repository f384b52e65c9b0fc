// Producers and consumers of a buffer with one place wait at one condition, and one of them is
// woken: it may be of the wrong kind.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;

static void wake(void) {
#ifdef FIXED
  pthread_cond_broadcast(&changed);
#else
  pthread_cond_signal(&changed);
#endif
}

static void* produce(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    while (items == 1) pthread_cond_wait(&changed, &g_lock);
    items++;
    wake();
    unlock();
  }
  return unused;
}

static void* consume(void* unused) {
  lock();
  while (items == 0) pthread_cond_wait(&changed, &g_lock);
  items--;
  wake();
  unlock();
  return unused;
}

int main(void) {
  RUN(consume, consume, produce, consume, consume, produce);
  return 0;
}
