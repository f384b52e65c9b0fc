// Condition variables of every kind pass a turn round: plain, by the monotonic clock with time
// limits, with a robust mutex (where libc's own code waits), and process-shared.
#include "program.h"

enum { kKinds = 4, kRounds = 60, kThreads = 4 };
enum { kPlain, kMonotonic, kRobust, kShared };
static pthread_mutex_t mutexes[kKinds];
static pthread_cond_t conditions[kKinds];
static int turn[kKinds], total[kKinds];

static void wait_in(int kind) {
  if (kind != kMonotonic) {
    CHECK_EQ(pthread_cond_wait(&conditions[kind], &mutexes[kind]), 0);
    return;
  }
  struct timespec until;
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &until), 0);
  until.tv_sec += 1000;
  CHECK_EQ(pthread_cond_timedwait(&conditions[kind], &mutexes[kind], &until), 0);
}

static void* body(void* argument) {
  const int me = (int)(long)argument;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int round = 0; round < kRounds; ++round) {
      CHECK_EQ(pthread_mutex_lock(&mutexes[kind]), 0);
      while (turn[kind] % kThreads != me) wait_in(kind);
      ++turn[kind];
      ++total[kind];
      CHECK_EQ(pthread_cond_broadcast(&conditions[kind]), 0);
      CHECK_EQ(pthread_mutex_unlock(&mutexes[kind]), 0);
    }
  }
  return NULL;
}

int main(void) {
  for (int kind = 0; kind < kKinds; ++kind) {
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    CHECK_EQ(pthread_mutexattr_init(&of_mutex), 0);
    CHECK_EQ(pthread_condattr_init(&of_condition), 0);
    if (kind == kMonotonic) CHECK_EQ(pthread_condattr_setclock(&of_condition, CLOCK_MONOTONIC), 0);
    if (kind == kRobust) CHECK_EQ(pthread_mutexattr_setrobust(&of_mutex, PTHREAD_MUTEX_ROBUST), 0);
    if (kind == kShared) {
      CHECK_EQ(pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED), 0);
      CHECK_EQ(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED), 0);
    }
    CHECK_EQ(pthread_mutex_init(&mutexes[kind], &of_mutex), 0);
    CHECK_EQ(pthread_cond_init(&conditions[kind], &of_condition), 0);
  }
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int kind = 0; kind < kKinds; ++kind) {
    printf("%d ", total[kind]);
    CHECK_EQ(pthread_cond_destroy(&conditions[kind]), 0);
  }
  puts("turns");
  return 0;
}
