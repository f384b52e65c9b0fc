// A dependence that is kept in an object; the racy task has none.
#include <omp.h>

#include "twin.h"

static int value;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_depend_t writes;
#pragma omp depobj(writes) depend(inout : value)
#pragma omp task depend(depobj : writes)
    value += 1;  // RACE
#if RACY
#pragma omp task
#else
#pragma omp task depend(depobj : writes)
#endif
    value += 2;  // RACE
#pragma omp taskwait
#pragma omp depobj(writes) destroy
  }
  use(value);
  return 0;
}
