// The racey stress with a mutex taken now and then, by data-dependent choice, around some of the
// racing steps.
#include "racey.h"

static volatile uint32_t cells[kCells];
static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int iterations;

static void* body(void* number) {
  uint32_t state = (uint32_t)(long)number + 1;
  for (int i = 0; i < iterations; ++i) {
    state = racey_step(cells, state);
    if (i % 128 != (int)(long)number) continue;
    pthread_mutex_t* lock = &locks[state % 4];
    CHECK_EQ(pthread_mutex_lock(lock), 0);
    state = racey_steps(cells, state, 16);
    CHECK_EQ(pthread_mutex_unlock(lock), 0);
  }
  cells[state % kCells] ^= state;
  return NULL;
}

int main(int argc, char** argv) {
  iterations = argument(argc, argv, 2, 50000);
  racey_fill(cells);
  run_threads(argument(argc, argv, 1, 4), body);
  racey_print(cells);
  return 0;
}
