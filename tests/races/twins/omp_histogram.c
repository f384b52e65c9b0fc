// All threads count in one histogram.
#include "twin.h"

int main(void) {
  int counts[4] = {0};
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 90; ++i) {
#if !RACY
#pragma omp atomic
#endif
    counts[i % 4]++;  // RACE
  }
  use(counts[1]);
  return 0;
}
