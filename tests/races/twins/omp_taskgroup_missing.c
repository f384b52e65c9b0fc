// The result of two tasks is read without waiting for them.
#include "twin.h"

static void both(int* results) {
#pragma omp task
  results[0] = 1;  // RACE
#pragma omp task
  results[1] = 2;  // RACE
}

int main(void) {
  int results[2] = {0}, sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
    both(results);
#else
#pragma omp taskgroup
    both(results);
#endif
    sum = results[0] + results[1];  // RACE
  }
  use(sum);
  return 0;
}
