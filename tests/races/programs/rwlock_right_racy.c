// The writer of the table takes the lock for reading, by mistake.
#include "program.h"

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int table[16];
static void* reader(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_rwlock_rdlock(&lock);
    use(table[i % 16]);  // RACE
    pthread_rwlock_unlock(&lock);
    usleep(20);
  }
  return unused;
}

static void* writer(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_rwlock_rdlock(&lock);
    table[i % 16] = i;  // RACE
    pthread_rwlock_unlock(&lock);
    usleep(20);
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
