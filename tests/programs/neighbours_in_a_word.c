// Bytes, shorts and ints side by side in one word, each written by its own thread, keep every
// write.
#include "program.h"

enum { kRounds = 40 };
static struct {
  uint8_t bytes[kMaxThreads];
  uint16_t shorts[kMaxThreads];
  uint32_t ints[kMaxThreads];
  char same[64];
} shared;
static pthread_barrier_t barrier;
static int threads;

static void* body(void* number) {
  long me = (long)number;
  for (int round = 1; round <= kRounds; ++round) {
    shared.bytes[me] = (uint8_t)(round * 3 + me);
    shared.shorts[me] = (uint16_t)(shared.shorts[me] + 257);
    shared.ints[me] += 0x01010101u;
    shared.same[me % 64] =
        's';  // A write of the same value again and again is none that others may lose.
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < threads; ++i) {
      CHECK_EQ(shared.bytes[i], (uint8_t)(round * 3 + i));
      CHECK_EQ(shared.shorts[i], (uint16_t)(257 * round));
      CHECK_EQ(shared.ints[i], 0x01010101u * (unsigned)round);
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  printf("rounds %d\n", kRounds);
  return 0;
}
