// A barrier of an atomic counter and a generation that the waiters spin on parts the rounds like a
// real one.
#include "program.h"

enum { kRounds = 12 };
static int threads, arrived;
static volatile int generation;
static long values[2][kMaxThreads];

static void wait_for_all(void) {
  int mine = generation;
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == threads) {
    arrived = 0;
    __atomic_store_n(&generation, mine + 1, __ATOMIC_RELEASE);
    return;
  }
  while (generation == mine) {}
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void* body(void* number) {
  long me = (long)number;
  for (int round = 0; round < kRounds; ++round) {
    long sum = 0;
    for (int i = 0; i < threads; ++i) sum += values[round % 2][i];
    values[(round + 1) % 2][me] = sum + me;
    wait_for_all();
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 3);
  long want[2][kMaxThreads] = {{0}};
  for (int i = 0; i < threads; ++i) values[0][i] = want[0][i] = 1;
  run_threads(threads, body);
  for (int round = 0; round < kRounds; ++round) {
    long sum = 0;
    for (int i = 0; i < threads; ++i) sum += want[round % 2][i];
    for (int i = 0; i < threads; ++i) want[(round + 1) % 2][i] = sum + i;
  }
  for (int i = 0; i < threads; ++i) CHECK_EQ(values[kRounds % 2][i], want[kRounds % 2][i]);
  printf("value %ld\n", values[kRounds % 2][0]);
  return 0;
}
