// Each task reads the cell before its own, of which its dependence says nothing.
#include "twin.h"

static int cells[8];

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 1; i < 8; ++i) {
#if RACY
#pragma omp task depend(inout : cells[i]) firstprivate(i)
#else
#pragma omp task depend(in : cells[i - 1]) depend(inout : cells[i]) firstprivate(i)
#endif
    {
      pause_ms(1);
      cells[i] = cells[i - 1] + 1;  // RACE
    }
  }
  use(cells[7]);
  return 0;
}
