// The sum of a parallel simd loop; the racy one is no reduction.
#include "twin.h"

static float numbers[300];

int main(void) {
  float sum = 0;
#if RACY
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 300; ++i) sum += numbers[i] + (float)i;  // RACE
#else
#pragma omp parallel for simd reduction(+ : sum) num_threads(3)
  for (int i = 0; i < 300; ++i) sum += numbers[i] + (float)i;
#endif
  use((long)sum);
  return 0;
}
