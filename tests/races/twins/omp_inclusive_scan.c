// Running sums by an inscan reduction, or by a shared sum.
#include "twin.h"

static int sums[60];

int main(void) {
  int sum = 0;
#if RACY
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 60; ++i) {
    sum += i;       // RACE
    sums[i] = sum;  // RACE
  }
#else
#pragma omp parallel for reduction(inscan, + : sum) num_threads(3)
  for (int i = 0; i < 60; ++i) {
    sum += i;
#pragma omp scan inclusive(sum)
    sums[i] = sum;
  }
#endif
  use(sums[59]);
  return !RACY && sums[59] != 1770;
}
