// A loop of vector operations has a dependence on the neighbouring cell.
#include "twin.h"

int values[300], b[300];

int main(void) {
#pragma omp parallel for simd num_threads(3)
  for (int i = 0; i < 299; ++i) values[i + RACY] = values[i] * 2 + b[i];  // RACE
  use(values[5]);
  return 0;
}
