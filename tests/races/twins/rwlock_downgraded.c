// A writer takes the lock for reading before it has written all.
#include "twin.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table[8], version;

static void* writer(void* unused) {
  pthread_rwlock_wrlock(&lock);
  for (int i = 0; i < 8; ++i) table[i] = i;
  if (!RACY) version++;
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  pause_ms(1);
  if (RACY) version++;  // RACE
  use(table[3]);
  pthread_rwlock_unlock(&lock);
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 4; ++i) {
    pthread_rwlock_rdlock(&lock);
    use(table[5]);
    use(version);  // RACE
    pthread_rwlock_unlock(&lock);
    pause_ms(2);
  }
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) threads[i] = start(i == 1 ? writer : reader, NULL);
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
