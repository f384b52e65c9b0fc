// Readers count their visits under the lock for reading.
#include "twin.h"

int table[4], lookups;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* body(void* unused) {
  if (RACY) pthread_rwlock_rdlock(&lock);
  if (!RACY) pthread_rwlock_wrlock(&lock);
  lookups += table[1] + 1;  // RACE
  pthread_rwlock_unlock(&lock);
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
