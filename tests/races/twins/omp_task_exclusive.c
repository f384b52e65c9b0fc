// Tasks that exclude each other (mutexinoutset), or take part in a set that does not (inoutset by `in`).
#include "twin.h"

static int sum;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 6; ++i) {
#if RACY
#pragma omp task depend(in : sum)
#else
#pragma omp task depend(mutexinoutset : sum)
#endif
    {
      sum += i;  // RACE
      pause_ms(2);
    }
  }
  use(sum);
  return 0;
}
