// A reader that wants to write gives up its read lock, takes the write lock, and does not look
// again.
#include "planted.h"

static pthread_rwlock_t guard = PTHREAD_RWLOCK_INITIALIZER;
static int cached, computed;

static void* get(void* unused) {
  pthread_rwlock_rdlock(&guard);
  if (!cached) {
    pthread_rwlock_unlock(&guard);
    pthread_rwlock_wrlock(&guard);
    FIX(if (!cached)) {
      computed++;
      cached = 1;
    }
  }
  pthread_rwlock_unlock(&guard);
  return unused;
}

int main(void) {
  RUN(get, get, get);
  REQUIRE(computed == 1);
  return 0;
}
