// A read-write lock is tried for writing while another reads; the racy program writes all the same.
#include "twin.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table[8];

static void* reader(void* unused) {
  pthread_rwlock_rdlock(&lock);
  long sum = 0;
  for (int i = 0; i < 8; ++i) sum += table[i];  // RACE
  pause_ms(40);
  for (int i = 0; i < 8; ++i) sum += table[i];  // RACE
  use(sum);
  pthread_rwlock_unlock(&lock);
  return unused;
}

static void* writer(void* unused) {
  pause_ms(15);
  if (pthread_rwlock_trywrlock(&lock) == 0) {
    table[2] = 4;
    pthread_rwlock_unlock(&lock);
  } else if (RACY) {
    table[2] = 5;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(reader, writer);
  return 0;
}
