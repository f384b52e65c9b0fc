// A task that is made in a critical region does not run in it.
#include "twin.h"

int main(void) {
  int count = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp critical
    {
#if RACY
#pragma omp task shared(count)
      {
        pause_ms(2);
        count++;  // RACE
      }
#else
      count++;
#endif
    }
  }
  use(count);
  return 0;
}
