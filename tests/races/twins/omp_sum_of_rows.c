// A sum over two dimensions without the reduction clause.
#include "twin.h"

float cells[40][40];

int main(void) {
  float sum = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) reduction(+ : sum)
#endif
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j) sum += cells[i][j] * cells[i][j];  // RACE
  use((long)sum);
  return 0;
}
