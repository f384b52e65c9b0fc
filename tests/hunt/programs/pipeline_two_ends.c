// A stage of a pipeline has two producers. The one that ends first says that the input is over.
#include "planted.h"

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued, taken, producers = 2, is_over;

static void* produce(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    queued++;
    pthread_cond_signal(&changed);
    unlock();
  }
  lock();
  producers--;
  BUG(is_over = 1;)
  FIX(is_over = producers == 0;)
  pthread_cond_signal(&changed);
  unlock();
  return unused;
}

static void* consume(void* unused) {
  lock();
  for (;;) {
    while (!queued && !is_over) pthread_cond_wait(&changed, &g_lock);
    if (!queued) break;
    queued--;
    taken++;
  }
  unlock();
  return unused;
}

int main(void) {
  RUN(produce, produce, consume);
  REQUIRE(taken == 4);
  return 0;
}
