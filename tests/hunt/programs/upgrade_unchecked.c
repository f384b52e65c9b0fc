// Gives the read lock up, takes the write lock, and does not look again.
#include "planted.h"

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int is_cached, computed;

static void* ensure(void* unused) {
  pthread_rwlock_rdlock(&rwlock);
  const int have = is_cached;
  pthread_rwlock_unlock(&rwlock);
  if (have) return unused;
  pthread_rwlock_wrlock(&rwlock);
  FIX(if (!is_cached)) {
    computed++;
    is_cached = 1;
  }
  pthread_rwlock_unlock(&rwlock);
  return unused;
}

int main(void) {
  RUN(ensure, ensure);
  REQUIRE(computed == 1);
  return 0;
}
