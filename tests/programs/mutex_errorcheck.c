// An error-checking mutex answers EDEADLK, EPERM and EBUSY where POSIX says so.
#include "program.h"

static pthread_mutex_t lock;
static long total;

static void* stranger(void* unused) {
  CHECK_EQ(pthread_mutex_unlock(&lock), EPERM);
  CHECK_EQ(pthread_mutex_trylock(&lock), EBUSY);
  struct timespec soon = time_in(CLOCK_REALTIME, 5);
  CHECK_EQ(pthread_mutex_timedlock(&lock, &soon), ETIMEDOUT);
  return unused;
}

static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    CHECK_EQ(pthread_mutex_lock(&lock), EDEADLK);
    ++total;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), type = -1;
  pthread_mutexattr_t attributes;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_settype(&attributes, 4711), EINVAL);
  CHECK_EQ(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK), 0);
  CHECK_EQ(pthread_mutexattr_gettype(&attributes, &type), 0);
  CHECK_EQ(type, PTHREAD_MUTEX_ERRORCHECK);
  CHECK_EQ(pthread_mutex_init(&lock, &attributes), 0);
  CHECK_EQ(pthread_mutex_unlock(&lock), EPERM);
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  CHECK_EQ(pthread_mutex_lock(&lock), EDEADLK);
  CHECK_EQ(pthread_mutex_destroy(&lock), EBUSY);
  run_threads(1, stranger);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 100L);
  puts("error codes right");
  return 0;
}
