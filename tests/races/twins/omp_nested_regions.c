// An inner parallel region adds to a variable outside of both.
#include "twin.h"

int total;

int main(void) {
#pragma omp parallel num_threads(2)
  {
    int mine = 1;
#pragma omp parallel num_threads(2) if (0)
    {
#if !RACY
#pragma omp atomic
#endif
      total += mine;  // RACE
    }
  }
  use(total);
  return 0;
}
