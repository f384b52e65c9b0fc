// An ordered loop over a long index, in pieces of two; the racy one reads the place before its own.
#include "twin.h"

static long cells[64];

int main(void) {
#pragma omp parallel for ordered schedule(static, 2) num_threads(3)
  for (unsigned long long i = 1; i < 60; ++i) {
#if RACY
    cells[i] = cells[i - 1] + 1;  // RACE
#pragma omp ordered
    use(0);
#else
#pragma omp ordered
    cells[i] = cells[i - 1] + 1;
#endif
  }
  use(cells[59]);
  return 0;
}
