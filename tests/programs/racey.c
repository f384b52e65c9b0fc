// Threads race on a shared array without synchronization: its signature tells whether two runs were
// the same.
#include "racey.h"

static volatile uint32_t cells[kCells];
static int iterations;

static void* body(void* number) {
  cells[(long)number % kCells] ^= racey_steps(cells, (uint32_t)(long)number + 1, iterations);
  return NULL;
}

int main(int argc, char** argv) {
  iterations = argument(argc, argv, 2, 200000);
  racey_fill(cells);
  run_threads(argument(argc, argv, 1, 4), body);
  racey_print(cells);
  return 0;
}
