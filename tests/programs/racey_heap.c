// The racey stress on arrays from malloc that threads replace, by a racy choice, while others mix
// them.
#include "racey.h"

enum { kArrays = 8 };
static volatile uint32_t* volatile arrays[kArrays];
static int iterations;

static void* body(void* number) {
  uint32_t state = (uint32_t)(long)number + 1;
  for (int i = 0; i < iterations; ++i) {
    state = racey_step(arrays[state >> 5 & (kArrays - 1)], state);
    if (i % 1000 != 0) continue;
    uint32_t* fresh = (uint32_t*)malloc(
        kCells * sizeof *fresh);  // The replaced one leaks: another thread may hold it.
    racey_fill(fresh);
    fresh[0] = state ^ (uint32_t)(uintptr_t)fresh;
    arrays[state % kArrays] = fresh;
  }
  return NULL;
}

int main(int argc, char** argv) {
  iterations = argument(argc, argv, 2, 50000);
  for (int i = 0; i < kArrays; ++i) {
    arrays[i] = (volatile uint32_t*)malloc(kCells * sizeof(uint32_t));
    racey_fill(arrays[i]);
  }
  run_threads(argument(argc, argv, 1, 4), body);
  for (int i = 0; i < kArrays; ++i) racey_print(arrays[i]);
  return 0;
}
