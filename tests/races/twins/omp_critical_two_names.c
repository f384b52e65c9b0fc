// Two critical sections have different names.
#include "twin.h"

int sum;

int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
#pragma omp critical(first)
    sum++;  // RACE
#pragma omp section
#if RACY
#pragma omp critical(second)
#else
#pragma omp critical(first)
#endif
    sum--;  // RACE
  }
  use(sum);
  return 0;
}
