// A row is computed from the row above it, which another thread computes.
#include "twin.h"

double cells[60][30];

int main(void) {
#if RACY
#pragma omp parallel for num_threads(3)
#endif
  for (int i = 1; i < 60; ++i)
#if !RACY
#pragma omp parallel for num_threads(3)
#endif
    for (int j = 1; j < 30; ++j) cells[i][j] = cells[i - 1][j - 1] + 1;  // RACE
  use((long)cells[4][4]);
  return 0;
}
