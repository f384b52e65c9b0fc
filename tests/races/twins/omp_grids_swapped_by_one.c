// One thread swaps the two grids of a relaxation; the racy others do not wait for it.
#include "twin.h"

static double grids[2][32];

int main(void) {
  double *from = grids[0], *to = grids[1];
#pragma omp parallel num_threads(3)
  for (int round = 0; round < 6; ++round) {
#pragma omp for
    for (int i = 1; i < 31; ++i) to[i] = (from[i - 1] + from[i + 1]) / 2;  // RACE
#if RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
    {
      double* const other = from;  // RACE
      from = to;                   // RACE
      to = other;                  // RACE
    }
  }
  use((long)from[3]);
  return 0;
}
