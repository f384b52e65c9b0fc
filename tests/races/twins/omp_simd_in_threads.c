// Parallel vector loops store to a cell that the next thread's part reads.
#include "twin.h"

enum { kCells = 300 };
static float in[kCells + 8], out[kCells + 8];

int main(void) {
  float* const from = RACY ? out : in;
#pragma omp parallel for simd num_threads(3) schedule(static)
  for (int i = 0; i < kCells; ++i) out[i] = from[i + 4] * 2 + 1;  // RACE
  use((long)out[7]);
  return 0;
}
