// Tasks that name a variable as input run together, those of mutexinoutset do not.
#include "twin.h"

static int sum;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task depend(out : sum)
    sum = 1;
    for (int i = 0; i < 6; ++i) {
#if RACY
#pragma omp task depend(in : sum)
#else
#pragma omp task depend(mutexinoutset : sum)
#endif
      {
        sum += i;  // RACE
        pause_ms(1);
      }
    }
  }
  use(sum);
  return 0;
}
