// The master sums what a loop without its barrier has made.
#include "twin.h"

static long cells[30], sum;

int main(void) {
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < 30; ++i) cells[i] = i;  // RACE
#pragma omp master
    for (int i = 0; i < 30; ++i) sum += cells[i];  // RACE
  }
  use(sum);
  return 0;
}
