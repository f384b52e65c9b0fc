// Two inner regions count without each other: each has a single of its own.
#include <omp.h>

#include "twin.h"

static int count;

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#if !RACY
#pragma omp atomic
#endif
      count++;  // RACE
    }
  }
  use(count);
  return 0;
}
