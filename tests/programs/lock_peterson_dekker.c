// Peterson's and Dekker's algorithms, built of sequentially consistent loads and stores alone,
// exclude two threads.
#include "program.h"

enum { kRounds = 60 };
static int wants[2], turn, dekker_wants[2], dekker_turn;
static long total, dekker_total;

static int load(int* from) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
static void store(int* to, int value) { __atomic_store_n(to, value, __ATOMIC_SEQ_CST); }

static void* body(void* number) {
  int me = (int)(long)number, other = 1 - me;
  for (int i = 0; i < kRounds; ++i) {
    store(&wants[me], 1);
    store(&turn, other);
    while (load(&wants[other]) && load(&turn) == other) sched_yield();
    ++total;
    store(&wants[me], 0);

    store(&dekker_wants[me], 1);
    while (load(&dekker_wants[other])) {
      if (load(&dekker_turn) == me) {
        sched_yield();
        continue;
      }
      store(&dekker_wants[me], 0);
      while (load(&dekker_turn) != me) sched_yield();
      store(&dekker_wants[me], 1);
    }
    ++dekker_total;
    store(&dekker_turn, other);
    store(&dekker_wants[me], 0);
  }
  // So that the other, who may wait for its turn, is let in once this one has left for good.
  store(&dekker_turn, other);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  CHECK_EQ(total, 2 * kRounds);
  CHECK_EQ(dekker_total, 2 * kRounds);
  printf("total %ld %ld\n", total, dekker_total);
  return 0;
}
