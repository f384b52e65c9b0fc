// Waits without looking whether what it waits for is there already.
#include "planted.h"

static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void* consume(void* unused) {
  lock();
  FIX(while (!is_ready))
  pthread_cond_wait(&ready, &g_lock);
  unlock();
  return unused;
}

static void* produce(void* unused) {
  lock();
  is_ready = 1;
  pthread_cond_signal(&ready);
  unlock();
  return unused;
}

int main(void) {
  RUN(consume, produce);
  return 0;
}
