// A taskloop adds up, with a reduction or without.
#include "twin.h"

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#if RACY
#pragma omp taskloop num_tasks(6) shared(sum)
#else
#pragma omp taskloop num_tasks(6) reduction(+ : sum)
#endif
  for (int i = 0; i < 24; ++i) {
    sum += i;  // RACE
    if (i % 4 == 0) pause_ms(1);
  }
  use(sum);
  return 0;
}
