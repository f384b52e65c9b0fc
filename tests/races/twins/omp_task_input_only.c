// The task that reads names another variable as its dependence.
#include "twin.h"

int x, y;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task depend(out : x)
    {
      pause_ms(3);
      x = 5;  // RACE
    }
#if RACY
#pragma omp task depend(in : y)
#else
#pragma omp task depend(in : x)
#endif
    use(x + y);  // RACE
  }
  return 0;
}
