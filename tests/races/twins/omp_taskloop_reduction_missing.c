// A taskloop sums without a reduction.
#include "twin.h"

static long sum;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
#pragma omp taskloop grainsize(4)
#else
#pragma omp taskloop grainsize(4) reduction(+ : sum)
#endif
    for (int i = 0; i < 48; ++i) {
      sum += i;  // RACE
      if (i % 4 == 0) pause_ms(1);
    }
  }
  use(sum);
  return 0;
}
