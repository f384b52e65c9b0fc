// Threads make and delete keys at the same time, POSIX's and C11's, and threads with values end
// meanwhile. Which key a thread gets depends on what others have at that moment.
#include <threads.h>

#include "program.h"

enum { kRounds = 40 };
static pthread_barrier_t all;

struct own {
  pthread_key_t key;
  tss_t other;
  _Atomic int ended;
};

static void end_value(void* own) { ++((struct own*)own)->ended; }

static void* use(void* at) {
  struct own* const own = at;
  CHECK_EQ(pthread_setspecific(own->key, own), 0);
  CHECK_EQ(tss_set(own->other, own), thrd_success);
  CHECK(pthread_getspecific(own->key) == own && tss_get(own->other) == own);
  return NULL;
}

static void* body(void* number) {
  (void)number;
  for (int round = 0; round < kRounds; ++round) {
    struct own own = {0};
    pthread_barrier_wait(&all);
    CHECK_EQ(pthread_key_create(&own.key, end_value), 0);
    CHECK_EQ(tss_create(&own.other, end_value), thrd_success);
    CHECK(own.key != own.other);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, use, &own), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    tss_delete(own.other);
    CHECK_EQ(pthread_key_delete(own.key), 0);
    CHECK_EQ(own.ended, 2);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&all, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  printf("%d\n", threads * kRounds);
  return 0;
}
