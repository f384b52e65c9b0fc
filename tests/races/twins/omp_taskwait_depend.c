// A taskwait waits for the task of one variable only.
#include "twin.h"

static int first, second;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : first)
    first = 1;
#pragma omp task depend(out : second)
    {
      pause_ms(5);
      second = 2;  // RACE
    }
#if RACY
#pragma omp taskwait depend(in : first)
#else
#pragma omp taskwait depend(in : first, second)
#endif
    use(second);  // RACE
  }
  return 0;
}
