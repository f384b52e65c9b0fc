// One section counts by an atomic, the other stores plainly.
#include "twin.h"

int x;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp atomic
        x += 2;
      }
#pragma omp section
      {
#if RACY
        x = 7;  // RACE
#else
#pragma omp atomic write
        x = 7;
#endif
      }
    }
  }
  use(x);
  return 0;
}
