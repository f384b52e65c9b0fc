// Three loops become one; what the innermost uses on the way is shared.
#include "twin.h"

static long cells[4][4][4];

int main(void) {
  long left = 0;
#if RACY
#pragma omp parallel for collapse(3) num_threads(3)
#else
#pragma omp parallel for collapse(3) private(left) num_threads(3)
#endif
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) {
        left = i + j + k;      // RACE
        cells[i][j][k] = left * 2;  // RACE
      }
  use(cells[3][3][3]);
  return 0;
}
