// Readers under a read-write lock never see half of a writer's pair of updates.
#include "program.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long first, second;

static void* body(void* number) {
  for (int i = 0; i < 150; ++i) {
    if ((i + (long)number) % 5 == 0) {
      CHECK_EQ(pthread_rwlock_wrlock(&lock), 0);
      ++first;
      if (i % 30 == 0) sched_yield();
      ++second;
    } else {
      CHECK_EQ(pthread_rwlock_rdlock(&lock), 0);
      CHECK_EQ(first, second);
    }
    CHECK_EQ(pthread_rwlock_unlock(&lock), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  CHECK_EQ(first, threads * 30L);
  CHECK_EQ(second, first);
  printf("writes %ld\n", first);
  return 0;
}
