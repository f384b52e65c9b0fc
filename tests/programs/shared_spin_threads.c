// Threads of two processes wait for each other by looking at words of memory that all share, beside
// locks and memory of their own.
#include "program.h"

enum { kThreads = 2, kRounds = 6 };
static struct Shared {
  volatile long turn;
  long sum;
} * shared;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static long mine;
static int side;

static void* takes_turns(void* argument) {
  const long me = side * kThreads + (long)(intptr_t)argument;
  for (long round = 0; round < kRounds; ++round) {
    while (shared->turn != round * 2 * kThreads + me) {}
    shared->sum = shared->sum * 3 + me;
    shared->turn++;
    CHECK_EQ(pthread_mutex_lock(&own), 0);
    mine += me;
    CHECK_EQ(pthread_mutex_unlock(&own), 0);
  }
  return NULL;
}

static void run(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, takes_turns, (void*)(intptr_t)i), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

int main(void) {
  shared = (struct Shared*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pid_t child = fork();
  CHECK(child >= 0);
  side = child == 0;
  run();
  if (child == 0) _exit(mine == kRounds * (2 + 3) ? 0 : 1);
  CHECK_CHILD(child);
  CHECK_EQ(mine, kRounds * (0 + 1));
  printf("turn %ld sum %ld\n", shared->turn, shared->sum);
  return 0;
}
