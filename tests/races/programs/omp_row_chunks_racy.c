// Rows are divided among two threads; each row reads the next one, which at the border is the other thread's.
#include "program.h"

static double cells[20][20];
int main(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 19; ++i)
    for (int j = 0; j < 20; ++j) cells[i][j] += cells[i + 1][j];  // RACE
  use((long)cells[10][10]);
  return 0;
}
