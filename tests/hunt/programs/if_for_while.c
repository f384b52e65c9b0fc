// Two consumers wait with `if`: one takes the item that the other was woken for.
#include "planted.h"

static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void* consume(void* unused) {
  lock();
#ifdef FIXED
  while (items == 0) pthread_cond_wait(&filled, &g_lock);
#else
  if (items == 0) pthread_cond_wait(&filled, &g_lock);
#endif
  REQUIRE(items > 0);
  items--;
  unlock();
  return unused;
}

static void* produce(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    items++;
    pthread_cond_broadcast(&filled);
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(consume, consume, produce);
  return 0;
}
