// The barrier of an inner team does not hold the outer one.
#include <omp.h>

#include "twin.h"

static int value;

int main(void) {
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) value = 5;  // RACE
#if RACY
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
      use(omp_get_thread_num());
    }
#else
#pragma omp barrier
#endif
    use(value);  // RACE
  }
  return 0;
}
