// Two tasks store the same variable; the clean ones depend on it.
#include "twin.h"

int main(void) {
  int i = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
#pragma omp task
    i = 1;  // RACE
#pragma omp task
    i = 2;  // RACE
#else
#pragma omp task depend(out : i)
    i = 1;
#pragma omp task depend(out : i)
    i = 2;
#endif
  }
  use(i);
  return 0;
}
