// Two locks in both orders; but only a thread that has seen a flag takes them the other way round.
#include "planted.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_busy;

static void* usual(void* unused) {
  is_busy = 1;
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  is_busy = 0;
  return unused;
}

static void* in_haste(void* unused) {
  BUG(if (is_busy) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
  })
  return unused;
}

int main(void) {
  RUN(usual, in_haste);
  return 0;
}
