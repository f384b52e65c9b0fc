// Threads make threads, which add to one sum; the racy ones without a lock.
#include "twin.h"

static long sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* leaf(void* by) {
  guard(&mutex);
  sum += (long)by;  // RACE
  unguard(&mutex);
  return NULL;
}

static void* branch(void* unused) {
  const pthread_t one = start(leaf, (void*)1), two = start(leaf, (void*)2);
  join(one);
  join(two);
  return unused;
}

int main(void) {
  const pthread_t one = start(branch, NULL), two = start(branch, NULL);
  join(one);
  join(two);
  use(sum);
  return 0;
}
