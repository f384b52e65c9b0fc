// A locked instruction on a word that one task alone changes is a fence still: of two tasks that
// announce themselves so, and then look whether the other has, at least one sees the other. (Epochs
// and hazard pointers are built on this.)
#include "program.h"

enum { kRounds = 400 };
static struct {
  volatile int announced;  // rounds begun
  char apart[60];
  long epoch;
  char apart_too[56];
} tasks[2];
static int seen[2][kRounds];

static void announce(int me, int round) {
  int before = round;
  switch (round % 4) {
    case 0: __atomic_store_n(&tasks[me].announced, round + 1, __ATOMIC_SEQ_CST); break;
    case 1: __atomic_fetch_add(&tasks[me].announced, 1, __ATOMIC_SEQ_CST); break;
    case 2:
      CHECK(__atomic_compare_exchange_n(&tasks[me].announced, &before, round + 1, 0,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
      break;
    default:
      tasks[me].announced = round + 1;
      __atomic_fetch_add(&tasks[me].epoch, 2, __ATOMIC_SEQ_CST);  // x86: as good as a fence
  }
}

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int round = 0; round < kRounds; ++round) {
    announce(me, round);
    seen[me][round] = tasks[1 - me].announced;
    if (round % (8 + me) == 0) sched_yield();  // one catches up with the other
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  for (int round = 0; round < kRounds; ++round)
    CHECK(seen[0][round] > round || seen[1][round] > round);
  puts("never unseen by both");
  return 0;
}
