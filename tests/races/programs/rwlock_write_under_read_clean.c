// Readers count their look-ups with an atomic builtin while they hold the lock for reading.
#include "program.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
long table[16], lookups;
static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    pthread_rwlock_rdlock(&lock);
    use(table[i % 16]);
    __atomic_fetch_add(&lookups, 1, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&lock);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return lookups > 0 ? 0 : 1;
}
