// A thread checks under the read lock, lets go, takes the write lock, and checks again before it fills the cache.
#include "program.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int cached;
static void* body(void* unused) {
  pthread_rwlock_rdlock(&lock);
  int missing = cached == 0;
  pthread_rwlock_unlock(&lock);
  pause_ms(3);
  if (missing) {
    pthread_rwlock_wrlock(&lock);
    if (cached == 0) cached = 17;
    pthread_rwlock_unlock(&lock);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return cached == 17 ? 0 : 1;
}
