// Each iteration uses an array for itself, which the racy region shares.
#include "twin.h"

int main(void) {
  int scratch[8] = {0}, sums[30];
#if RACY
#pragma omp parallel for num_threads(3) shared(scratch)
#else
#pragma omp parallel for num_threads(3) private(scratch)
#endif
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 8; ++k) scratch[k] = i + k;  // RACE
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += scratch[k];  // RACE
    sums[i] = sum;
  }
  use(sums[7]);
  return 0;
}
