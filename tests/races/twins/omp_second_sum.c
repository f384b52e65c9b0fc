// Two sums are made in one loop; the reduction names one of them, or both.
#include "twin.h"

int main(void) {
  long sum = 0, squares = 0;
#if RACY
#pragma omp parallel for num_threads(3) reduction(+ : sum)
#else
#pragma omp parallel for num_threads(3) reduction(+ : sum, squares)
#endif
  for (int i = 0; i < 60; ++i) {
    sum += i;
    squares += (long)i * i;  // RACE
  }
  use(sum + squares);
  return 0;
}
