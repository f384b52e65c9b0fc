// Threads that count in memory how often they have looked for a flag, until it is set: in a global
// variable, in a block of the heap's, in their own part of an array, in two words of different
// sizes, and in one that is written anew each time. How far they come depends on the schedule; that
// they come to an end does not.
#include "program.h"

#include <stdlib.h>

enum { kThreads = 5 };

struct Worker {
  int which;
  long rounds;
  unsigned short small;
};

static _Alignas(64) int stop;
static _Alignas(64) volatile long in_global;
static _Alignas(64) volatile unsigned in_array[kThreads * 16];

static int is_over(void) { return __atomic_load_n(&stop, __ATOMIC_ACQUIRE); }

static void* count(void* which) {
  struct Worker* worker = which;
  switch (worker->which) {
    case 0:
      while (!is_over()) in_global++;
      break;
    case 1:
      while (!is_over()) worker->rounds++;
      break;
    case 2:
      while (!is_over()) in_array[worker->which * 16]++;
      break;
    case 3:
      while (!is_over()) {
        worker->rounds += 2;
        worker->small = 7;
      }
      break;
    default:
      while (!is_over()) in_array[worker->which * 16] = 5;
  }
  return which;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) {
    struct Worker* worker = calloc(1, sizeof *worker);
    worker->which = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, count, worker), 0);
  }
  for (int i = 0; i < 3; i++) sched_yield();
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < kThreads; i++) {
    void* worker;
    CHECK_EQ(pthread_join(threads[i], &worker), 0);
    free(worker);
  }
  puts("all have stopped");
  return 0;
}
