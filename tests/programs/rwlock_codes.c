// Tries and timed locks of a read-write lock answer EBUSY, ETIMEDOUT and EDEADLK; many may read at
// once.
#include "program.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void* against_reader(void* unused) {
  struct timespec soon = time_in(CLOCK_REALTIME, 10);
  CHECK_EQ(pthread_rwlock_tryrdlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  CHECK_EQ(pthread_rwlock_timedwrlock(&lock, &soon), ETIMEDOUT);
  return unused;
}

static void* against_writer(void* unused) {
  struct timespec soon = time_in(CLOCK_REALTIME, 10);
  CHECK_EQ(pthread_rwlock_tryrdlock(&lock), EBUSY);
  CHECK_EQ(pthread_rwlock_trywrlock(&lock), EBUSY);
  CHECK_EQ(pthread_rwlock_timedrdlock(&lock, &soon), ETIMEDOUT);
  soon = time_in(CLOCK_MONOTONIC, 10);
  CHECK_EQ(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
  return unused;
}

static void* writes(void* unused) {
  CHECK_EQ(pthread_rwlock_wrlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_rwlock_rdlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_rdlock(&lock), 0);
  run_threads(2, against_reader);
  CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  CHECK_EQ(pthread_create(&thread, NULL, writes, NULL), 0);
  sleep_ms(5);
  CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_rwlock_wrlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_wrlock(&lock), EDEADLK);
  CHECK_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
  run_threads(2, against_writer);
  CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  CHECK_EQ(pthread_rwlock_destroy(&lock), 0);
  puts("codes right");
  return 0;
}
