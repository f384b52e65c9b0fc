// A table is filled along its diagonals: each cell waits for the one above and the one to the left.
#include "twin.h"

static int cells[12][12];

int main(void) {
#pragma omp parallel for ordered(2) num_threads(3) schedule(static, 1)
  for (int i = 1; i < 12; ++i)
    for (int j = 1; j < 12; ++j) {
#if RACY
#pragma omp ordered depend(sink : i, j - 1)
#else
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
#endif
      cells[i][j] = cells[i - 1][j] + cells[i][j - 1] + 1;  // RACE
#pragma omp ordered depend(source)
    }
  use(cells[11][11]);
  return 0;
}
