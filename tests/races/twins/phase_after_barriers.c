// Three threads change one array in 200 rounds with barriers; in one late round they use the same element.
#include "twin.h"

enum { kThreads = 3, kRounds = 200 };
static int cells[kThreads * 16];
static pthread_barrier_t barrier;

static void* body(void* number) {
  const long mine = (long)number;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 16; ++i) cells[(mine + round) % kThreads * 16 + i]++;
    if (round == 180) {
      const long at = RACY ? 5 : (mine + round) % kThreads * 16;
      cells[at]++;  // RACE
    }
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  pthread_barrier_init(&barrier, NULL, kThreads);
  run_threads(kThreads, body);
  use(cells[5]);
  return 0;
}
