// Two tasks change one variable; only one says so.
#include <omp.h>

#include "twin.h"

static int value;

int main(void) {
  omp_set_num_threads(2);
#pragma omp parallel
#pragma omp single
  {
#if RACY
#pragma omp task depend(out : value)
    value = 1;  // RACE
#pragma omp task
    value = 2;  // RACE
#else
#pragma omp task depend(out : value)
    value = 1;
#pragma omp task depend(inout : value)
    value = 2;
#endif
  }
  use(value);
  return 0;
}
