// A worksharing loop with simd writes what the neighbouring chunk reads.
#include "twin.h"

enum { kSize = 128 };
static int cells[2 * kSize];

int main(void) {
#pragma omp parallel for simd num_threads(4)
  for (int i = 0; i < kSize; ++i)
    cells[i] = cells[RACY ? i + 8 : i + kSize] + 1;  // RACE
  use(cells[3]);
  return 0;
}
