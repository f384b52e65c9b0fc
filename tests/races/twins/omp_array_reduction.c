// An array section is reduced, or counted in by all.
#include "twin.h"

int main(void) {
  int histogram[8] = {0};
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) reduction(+ : histogram[:8])
#endif
  for (int i = 0; i < 48; ++i) histogram[i * 5 % 8] += 1;  // RACE
  use(histogram[3]);
  return 0;
}
