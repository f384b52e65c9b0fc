// Two sections write one value; the clean twin has a critical region.
#include "twin.h"

int main(void) {
  int value = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#if !RACY
#pragma omp critical
#endif
      value += 1;  // RACE
    }
#pragma omp section
    {
#if !RACY
#pragma omp critical
#endif
      value += 2;  // RACE
    }
  }
  use(value);
  return 0;
}
