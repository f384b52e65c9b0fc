// A destructor of thread-specific data spins for a lock made of a test-and-set, whose holder comes
// to events before it lets go.
#include "program.h"

#include <stdatomic.h>

enum { kRounds = 2 };

static pthread_key_t key;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long inside;

static void work(void) {
  while (atomic_flag_test_and_set(&flag)) {}
  for (int k = 0; k < 2; ++k) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    ++inside;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    sched_yield();
  }
  atomic_flag_clear(&flag);
}

static void destroy(void* unused) {
  (void)unused;
  work();
}

static void* body(void* unused) {
  CHECK_EQ(pthread_setspecific(key, &key), 0);
  work();
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_key_create(&key, destroy), 0);
  for (int round = 0; round < kRounds; ++round) run_threads(threads, body);
  printf("inside %ld\n", inside);
  return 0;
}
