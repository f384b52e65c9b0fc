// Five threads take two of five locks each; one of them the other way round than it should.
#include "planted.h"

enum { kAll = 5 };
static pthread_mutex_t locks[kAll] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                      PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                      PTHREAD_MUTEX_INITIALIZER};

static void* move(void* number) {
  int one = (int)(long)number, other = (one + 2) % kAll;
  FIX(if (one > other) {
    const int swap = one;
    one = other;
    other = swap;
  })
  pthread_mutex_lock(&locks[one]);
  pthread_mutex_lock(&locks[other]);
  pthread_mutex_unlock(&locks[other]);
  pthread_mutex_unlock(&locks[one]);
  return NULL;
}

int main(void) {
  run_many(kAll, move, 0, NULL);
  return 0;
}
