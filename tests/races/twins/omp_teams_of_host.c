// Teams on the host share a variable; the racy sections of it are not atomic.
#include "twin.h"

static int total;

int main(void) {
#pragma omp teams num_teams(1)
#pragma omp parallel num_threads(3)
  {
#if RACY
    total += 2;  // RACE
#else
#pragma omp atomic
    total += 2;
#endif
  }
  use(total);
  return 0;
}
