// A section uses what another one makes, in one construct or in two.
#include "twin.h"

static int stage;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp sections
    {
#pragma omp section
      stage = 1;  // RACE
#if RACY
#pragma omp section
      use(stage);  // RACE
#endif
    }
#if !RACY
#pragma omp single
    use(stage);
#endif
  }
  return 0;
}
