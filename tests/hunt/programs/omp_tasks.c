// Two tasks without a dependency: the second reads what the first writes.
#include "planted.h"

static volatile int produced, consumed;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#ifdef FIXED
#pragma omp task depend(out : produced)
#else
#pragma omp task
#endif
    produced = 3;
#ifdef FIXED
#pragma omp task depend(in : produced)
#else
#pragma omp task
#endif
    consumed = produced;
#pragma omp taskwait
  }
  REQUIRE(consumed == 3);
  return 0;
}
