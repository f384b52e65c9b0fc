// taskwait waits for the child only, not for the task that the child has made.
#include "twin.h"

int cells[4], sum;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp task
      {
        pause_ms(5);
        cells[1] = 1;  // RACE
      }
#if !RACY
#pragma omp taskwait
#endif
    }
#pragma omp taskwait
    sum = cells[1];  // RACE
  }
  use(sum);
  return 0;
}
