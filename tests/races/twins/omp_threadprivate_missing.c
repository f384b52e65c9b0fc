// Each thread sums in a file's variable that is not threadprivate.
#include "twin.h"

int sum0, sum1;
#if !RACY
#pragma omp threadprivate(sum0)
#endif

__attribute__((noinline)) static void add(int i) { sum0 = sum0 + i; }  // RACE

int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 1; i <= 300; ++i) add(i);
#pragma omp critical
    sum1 = sum1 + sum0;  // RACE
  }
  use(sum1);
  return 0;
}
