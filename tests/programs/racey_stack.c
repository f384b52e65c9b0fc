// The racey stress on an array that lives on main's stack, while main itself mixes it too.
#include "racey.h"

struct Shared {
  volatile uint32_t* cells;
  int iterations;
};

static void* body(void* argument) {
  struct Shared* shared = (struct Shared*)argument;
  uint32_t state = racey_steps(shared->cells, (uint32_t)shared->iterations, shared->iterations);
  shared->cells[state % kCells] ^= state;
  return NULL;
}

int main(int argc, char** argv) {
  volatile uint32_t cells[kCells];
  int threads = argument(argc, argv, 1, 4);
  struct Shared shared[kMaxThreads];
  pthread_t ids[kMaxThreads];
  racey_fill(cells);
  for (int i = 0; i < threads; ++i) {
    shared[i] = (struct Shared){cells, argument(argc, argv, 2, 50000) + i};
    CHECK_EQ(pthread_create(&ids[i], NULL, body, &shared[i]), 0);
  }
  cells[0] ^= racey_steps(cells, 77, shared[0].iterations);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  racey_print(cells);
  return 0;
}
