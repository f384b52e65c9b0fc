// Of four tasks the last needs two; the racy one names only one of them.
#include "twin.h"

static int top, left, right, bottom;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task depend(out : top)
    top = 1;
#pragma omp task depend(in : top) depend(out : left)
    {
      left = top + 1;
      use(left);
    }
#pragma omp task depend(in : top) depend(out : right)
    {
      pause_ms(1);
      right = top + 2;  // RACE
    }
#if RACY
#pragma omp task depend(in : left) depend(out : bottom)
#else
#pragma omp task depend(in : left, right) depend(out : bottom)
#endif
    bottom = left + right;  // RACE
  }
  use(bottom);
  return 0;
}
