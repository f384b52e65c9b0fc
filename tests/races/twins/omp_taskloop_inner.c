// A taskloop shares the index of the inner loop.
#include "twin.h"

int cells[50][50];

int main(void) {
  int j = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
#pragma omp taskloop shared(j)
#else
#pragma omp taskloop private(j)
#endif
    for (int i = 0; i < 50; ++i)
      for (j = 0; j < 50; ++j) cells[i][j] += 1;  // RACE
  }
  use(cells[2][2]);
  return 0;
}
