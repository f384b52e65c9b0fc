// One thread sets a value in a single region that the others do not wait for.
#include "twin.h"

int main(void) {
  int value = 0;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
    value = 8;   // RACE
    use(value);  // RACE
  }
  return 0;
}
