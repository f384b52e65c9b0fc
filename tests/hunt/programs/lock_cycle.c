// Three locks and three threads in a circle: each of the three must stop between its two locks.
#include "planted.h"

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void with(int first, int second) {
  pthread_mutex_lock(&locks[first]);
  pthread_mutex_lock(&locks[second]);
  pthread_mutex_unlock(&locks[second]);
  pthread_mutex_unlock(&locks[first]);
}

static void* a(void* unused) {
  with(0, 1);
  return unused;
}
static void* b(void* unused) {
  with(1, 2);
  return unused;
}
static void* c(void* unused) {
  FIX(with(0, 2);)
  BUG(with(2, 0);)
  return unused;
}

int main(void) {
  RUN(a, b, c);
  return 0;
}
