// A running sum: by an inscan reduction, or with one variable that all threads add to.
#include "twin.h"

int main(void) {
  static int numbers[60], sums[60];
  int sum = 0;
  for (int i = 0; i < 60; ++i) numbers[i] = i;
#if RACY
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 60; ++i) {
    sum += numbers[i];  // RACE
    sums[i] = sum;      // RACE
  }
#else
#pragma omp parallel for reduction(inscan, + : sum) num_threads(3)
  for (int i = 0; i < 60; ++i) {
    sum += numbers[i];
#pragma omp scan inclusive(sum)
    sums[i] = sum;
  }
#endif
  use(sums[33]);
  return 0;
}
