// Rows are divided among two threads; each row reads the next one of a copy that nobody writes. (ThreadSanitizer does not see libgomp's barrier.)
#include "program.h"

static double cells[20][20], before[20][20];
int main(void) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 19; ++i)
    for (int j = 0; j < 20; ++j) cells[i][j] += before[i + 1][j];
  use((long)cells[10][10]);
  return 0;
}
