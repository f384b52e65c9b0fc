// Tasks add to a sum by a reduction of their group, or without one.
#include "twin.h"

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
    for (int i = 0; i < 6; ++i) {
#pragma omp task shared(sum)
      {
        sum += i;  // RACE
        pause_ms(2);
      }
    }
#else
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 6; ++i) {
#pragma omp task in_reduction(+ : sum)
      {
        sum += i;
        pause_ms(2);
      }
    }
#endif
  }
  use(sum);
  return 0;
}
