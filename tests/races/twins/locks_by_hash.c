// Buckets have locks by their number; one thread rounds the number otherwise, and takes the wrong lock.
#include "twin.h"

static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int buckets[16];

static void add(int bucket, int lock) {
  pthread_mutex_lock(&locks[lock]);
  buckets[bucket]++;  // RACE
  pthread_mutex_unlock(&locks[lock]);
}

static void* one(void* unused) {
  add(6, 6 % 4);
  return unused;
}

static void* two(void* unused) {
  pause_ms(10);
  add(6, RACY ? 6 / 4 : 6 % 4);
  return unused;
}

int main(void) {
  run_two(one, two);
  return buckets[6] > 0 ? 0 : 1;
}
