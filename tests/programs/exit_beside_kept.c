// The program ends while a thread, between events that were near each other, computes for longer
// than the end waits for it (docs/decisions, 15): what the end does meanwhile is orderly, and
// the thread comes to no event in the middle of it.
#include "program.h"

enum { kEnough = 400, kTogether = 512 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long ending, pairs[kTogether], twins[kTogether], computed[kMaxThreads];

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void section(long i) {
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  CHECK_EQ(pairs[i % kTogether], twins[i % kTogether]);
  pairs[i % kTogether]++;
  twins[i % kTogether]++;
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
}

static void* body(void* argument) {
  for (long i = 0;; ++i) {
    section(i);
    if (!__atomic_load_n(&ending, __ATOMIC_RELAXED)) continue;
    for (const double until = seconds() + (argument ? 1.5 : 30); seconds() < until;)
      computed[(long)argument]++;
  }
  return argument;
}

static void at_end(void) {
  const double until = seconds() + 2.5;
  for (long i = 0; seconds() < until || i < kEnough; ++i) {
    section(i);
    if (i % 16 == 0) sched_yield();
  }
  puts("ended");
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 2);
  pthread_t id;
  CHECK_EQ(atexit(at_end), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&id, NULL, body, (void*)i), 0);
  for (long i = 0; i < kEnough; ++i) section(i);
  sched_yield();
  __atomic_store_n(&ending, 1, __ATOMIC_RELAXED);
  exit(0);
}
