// The racey stress with fetch_add, exchange and compare-and-swap on the same cells that plain
// accesses race on.
#include "racey.h"

static volatile uint32_t cells[kCells];
static int iterations;

static void* body(void* number) {
  uint32_t state = (uint32_t)(long)number + 1;
  for (int i = 0; i < iterations; ++i) {
    state = racey_step(cells, state);
    if (i % 256 == 0) state += __atomic_fetch_add(&cells[state % kCells], state, __ATOMIC_SEQ_CST);
    if (i % 256 == 80)
      state ^= __atomic_exchange_n(&cells[state >> 8 & (kCells - 1)], state, __ATOMIC_SEQ_CST);
    if (i % 256 == 160)
      state += __sync_val_compare_and_swap(&cells[state % kCells], cells[state % kCells], state);
  }
  return NULL;
}

int main(int argc, char** argv) {
  iterations = argument(argc, argv, 2, 50000);
  racey_fill(cells);
  run_threads(argument(argc, argv, 1, 4), body);
  racey_print(cells);
  return 0;
}
