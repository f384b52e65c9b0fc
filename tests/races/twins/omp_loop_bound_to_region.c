// A loop construct sums into a shared variable.
#include "twin.h"

static long sum;

int main(void) {
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp loop bind(parallel)
    for (int i = 0; i < 60; ++i) sum += i;  // RACE
#else
#pragma omp loop bind(parallel) reduction(+ : sum)
    for (int i = 0; i < 60; ++i) sum += i;
#endif
  }
  use(sum);
  return 0;
}
