// A thread checks under the read lock, and fills the cache after it let go of it, without taking the write lock.
#include "program.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int cached;
static void* body(void* unused) {
  pthread_rwlock_rdlock(&lock);
  int missing = cached == 0;  // RACE
  pthread_rwlock_unlock(&lock);
  pause_ms(3);
  if (missing) {
    cached = 17;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return cached == 17 ? 0 : 1;
}
