// The index of the inner loop is shared.
#include "twin.h"

int cells[20][20];

int main(void) {
  int i, j = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) private(j)
#endif
  for (i = 0; i < 20; ++i)
    for (j = 0; j < 20; ++j) cells[i][j] = cells[i][j] + 1;  // RACE
  use(cells[3][3] + j);
  return 0;
}
