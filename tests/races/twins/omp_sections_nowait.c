// What a section stores is read behind the sections, by all threads.
#include "twin.h"

int main(void) {
  int value = 0, other = 0;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp sections nowait
#else
#pragma omp sections
#endif
    {
#pragma omp section
      value = 3;  // RACE
#pragma omp section
      other = 4;
    }
    use(value);  // RACE
  }
  use(other);
  return 0;
}
