// Iterations over a long index wait for the one before; the racy ones wait for the one before that.
#include "twin.h"

static int cells[100];

int main(void) {
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(3)
  for (unsigned long long i = 2; i < 100; ++i) {
#if RACY
#pragma omp ordered depend(sink : i - 2)
#else
#pragma omp ordered depend(sink : i - 1)
#endif
    cells[i] = cells[i - 1] + 1;  // RACE
#pragma omp ordered depend(source)
  }
  use(cells[99]);
  return 0;
}
