// The column index runs to -1, which is the last column of another thread's row.
#include "twin.h"

double cells[60][20];

int main(void) {
  int first = RACY ? 0 : 1;
#pragma omp parallel for num_threads(3)
  for (int i = 1; i < 60; ++i)
    for (int j = first; j < 20; ++j) cells[i][j] = (&cells[i][0])[j - 1] + 1;  // RACE
  use((long)cells[4][4]);
  return 0;
}
