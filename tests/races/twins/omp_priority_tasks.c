// Priorities of tasks order nothing.
#include "twin.h"

static int log_length;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 8; ++i) {
#if RACY
#pragma omp task priority(8 - i)
#else
#pragma omp task priority(8 - i) depend(inout : log_length)
#endif
      {
        log_length++;  // RACE
        pause_ms(1);
      }
    }
  }
  use(log_length);
  return 0;
}
