// nowait lets one thread use what the loop computes before the others are done.
#include "twin.h"

int error, b = 5, a[1000];

int main(void) {
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < 1000; ++i) a[i] = b + a[i] * 5;  // RACE
#pragma omp single
    error = a[999] + a[0] + 1;  // RACE
  }
  use(error);
  return 0;
}
