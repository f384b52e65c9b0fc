// What a task makes is read behind a taskwait, or the taskwait stands before the task.
#include "twin.h"

static int result;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#if RACY
#pragma omp taskwait
#endif
#pragma omp task
    {
      result = 5;  // RACE
    }
    pause_ms(2);
#if !RACY
#pragma omp taskwait
#endif
    use(result);  // RACE
  }
  return 0;
}
