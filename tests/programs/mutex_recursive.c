// A recursive mutex may be locked again by its owner and by nobody else until it has unlocked as
// often.
#include "program.h"

static pthread_mutex_t lock;
static long total;

static void* tries(void* unused) {
  CHECK_EQ(pthread_mutex_trylock(&lock), EBUSY);
  CHECK_EQ(pthread_mutex_unlock(&lock), EPERM);
  return unused;
}

static void add(int depth) {
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  ++total;
  if (depth > 1) add(depth - 1);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
}

static void* body(void* unused) {
  for (int i = 0; i < 50; ++i) add(4);
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_mutexattr_t attributes;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE), 0);
  CHECK_EQ(pthread_mutex_init(&lock, &attributes), 0);
  CHECK_EQ(pthread_mutexattr_destroy(&attributes), 0);
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  CHECK_EQ(pthread_mutex_trylock(&lock), 0);
  run_threads(1, tries);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  run_threads(1, tries);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  CHECK_EQ(pthread_mutex_unlock(&lock), EPERM);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 200L);
  CHECK_EQ(pthread_mutex_destroy(&lock), 0);
  printf("total %ld\n", total);
  return 0;
}
