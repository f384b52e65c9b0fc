// The racey stress in rounds parted by a barrier; the thread that the barrier names serial goes
// into the mix too.
#include "racey.h"

static volatile uint32_t cells[kCells];
static pthread_barrier_t barrier;
static int iterations;

static void* body(void* number) {
  uint32_t state = (uint32_t)(long)number + 1;
  for (int i = 0; i < iterations; i += 200) {
    state = racey_steps(cells, state, 200);
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) cells[state % kCells] += (uint32_t)(long)number;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  iterations = argument(argc, argv, 2, 10000);
  racey_fill(cells);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  CHECK_EQ(pthread_barrier_destroy(&barrier), 0);
  racey_print(cells);
  return 0;
}
