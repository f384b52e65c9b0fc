// The inner loop is parallel though its iterations depend on each other.
#include "twin.h"

double cells[20][60];

int main(void) {
  for (int i = 0; i < 20; ++i) {
#if RACY
#pragma omp parallel for num_threads(3)
    for (int j = 0; j < 59; ++j) cells[i][j] += cells[i][j + 1];  // RACE
#else
    for (int j = 0; j < 59; ++j) cells[i][j] += cells[i][j + 1];
#endif
  }
  use((long)cells[4][4]);
  return 0;
}
