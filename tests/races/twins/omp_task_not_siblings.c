// A dependence orders siblings only, and these tasks have two parents.
#include "twin.h"

int a;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task depend(inout : a)
      a++;  // RACE
#if !RACY
#pragma omp taskwait
#endif
    }
#if !RACY
#pragma omp taskwait
#endif
#pragma omp task
    {
#pragma omp task depend(inout : a)
      a++;  // RACE
    }
  }
  use(a);
  return 0;
}
