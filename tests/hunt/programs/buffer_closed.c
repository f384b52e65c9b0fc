// A bounded buffer is closed: one of the consumers that wait is told.
#include "planted.h"

static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int count, is_closed;

static void* consume(void* unused) {
  for (;;) {
    lock();
    while (!count && !is_closed) pthread_cond_wait(&not_empty, &g_lock);
    if (!count) break;
    count--;
    unlock();
  }
  unlock();
  return unused;
}

static void* produce(void* unused) {
  for (int i = 0; i < 3; i++) {
    lock();
    count++;
    pthread_cond_signal(&not_empty);
    unlock();
  }
  lock();
  is_closed = 1;
  BUG(pthread_cond_signal(&not_empty);)
  FIX(pthread_cond_broadcast(&not_empty);)
  unlock();
  return unused;
}

int main(void) {
  RUN(produce, consume, consume);
  return 0;
}
