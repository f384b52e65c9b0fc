// A turn that is kept while a thread ends, or joins another, is given on at the first event that is
// no part of that: what the program's own code wrote in it by then (destructors, handlers of
// signals that interrupt the join, and what lies on their stacks) is seen by all.
#include "program.h"

enum { kThreads = 4, kRounds = 40 };
static pthread_key_t key;
static pthread_t joiner;
static long ended[kThreads * 512], handled[512], sent;  // a page of its own for each thread
static int null_file;

static void on_signal(int signal) {
  volatile long local[64];  // lies on the stack that the join goes on with
  for (long i = 0; i < 64; ++i) local[i] = signal + i;
  handled[0]++;
  sched_yield();
  handled[1]++;
  CHECK_EQ(write(null_file, "x", 1), 1);
  for (long i = 0; i < 64; ++i) CHECK_EQ(local[i], signal + i);
  handled[2]++;
}

static void at_end(void* argument) {
  long* mine = argument;
  mine[0]++;
  switch (mine[0] % 3) {
    case 0: sched_yield(); break;
    case 1: CHECK_EQ(write(null_file, "x", 1), 1); break;
    default: CHECK_EQ(nanosleep(&(struct timespec){0, 1000}, NULL), 0);
  }
  mine[1]++;
}

static void* body(void* argument) {
  const long number = (long)argument;
  CHECK_EQ(pthread_setspecific(key, ended + number * 512), 0);
  for (int i = 0; i < 5; ++i) sched_yield();
  if (number == 0) {
    __atomic_add_fetch(&sent, 1, __ATOMIC_SEQ_CST);
    CHECK_EQ(pthread_kill(joiner, SIGUSR1), 0);
    for (int i = 0; i < 10; ++i) sched_yield();
  }
  return argument;
}

int main(void) {
  null_file = open("/dev/null", O_WRONLY);
  CHECK(null_file >= 0);
  joiner = pthread_self();
  CHECK_EQ(pthread_key_create(&key, at_end), 0);
  CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
  for (long round = 0; round < kRounds; ++round) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; ++i)
      CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
    for (long i = 0; i < kThreads; ++i) {
      void* value;
      CHECK_EQ(pthread_join(threads[i], &value), 0);
      CHECK_EQ((long)value, i);
    }
  }
  for (long i = 0; i < kThreads; ++i) {
    CHECK_EQ(ended[i * 512], kRounds);
    CHECK_EQ(ended[i * 512 + 1], kRounds);
  }
  for (int i = 0; i < 3; ++i) CHECK_EQ(handled[i], sent);
  puts("kept for life");
  return 0;
}
