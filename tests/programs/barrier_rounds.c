// No thread passes a barrier before all have come, and exactly one of them is told SERIAL_THREAD in
// each round.
#include "program.h"

enum { kRounds = 400 };
static pthread_barrier_t barrier;
static int threads, arrived[kMaxThreads], serial[kRounds];

static void* body(void* number) {
  for (int round = 0; round < kRounds; ++round) {
    arrived[(long)number] = round + 1;
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) ++serial[round];
    for (int i = 0; i < threads; ++i) CHECK(arrived[i] >= round + 1);
    result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 0), EINVAL);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  for (int i = 0; i < kRounds; ++i) CHECK_EQ(serial[i], 1);
  CHECK_EQ(pthread_barrier_destroy(&barrier), 0);
  printf("rounds %d\n", kRounds);
  return 0;
}
