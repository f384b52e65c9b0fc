// The master's taskloop adds to one variable; the clean one is a reduction.
#include "twin.h"

int main(void) {
  int total = 0;
#if RACY
#pragma omp parallel master taskloop num_tasks(6) num_threads(3) shared(total)
  for (int i = 0; i < 6; ++i) {
    pause_ms(1);
    total += i;  // RACE
  }
#else
#pragma omp parallel master taskloop num_tasks(6) num_threads(3) reduction(+ : total)
  for (int i = 0; i < 6; ++i) {
    pause_ms(1);
    total += i;
  }
#endif
  use(total);
  return 0;
}
