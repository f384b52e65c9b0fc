// A task says that it reads the first element, and reads the second.
#include "twin.h"

static int cells[2];

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : cells[1])
    cells[1] = 5;  // RACE
#if RACY
#pragma omp task depend(in : cells[0]) shared(sum)
#else
#pragma omp task depend(in : cells[1]) shared(sum)
#endif
    sum = cells[1];  // RACE
  }
  use(sum);
  return 0;
}
