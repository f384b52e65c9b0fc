// The master initializes, and the others do not wait for it.
#include "twin.h"

int main(void) {
  int initial = 0, count = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp master
    initial = 10;  // RACE
#if !RACY
#pragma omp barrier
#endif
#pragma omp atomic
    count += initial;  // RACE
  }
  use(count);
  return 0;
}
