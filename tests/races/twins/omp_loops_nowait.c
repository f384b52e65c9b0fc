// The second loop reads another thread's part of the first, which has nowait.
#include "twin.h"

enum { kSize = 96 };

int main(void) {
  int first[kSize] = {0}, second[kSize] = {0};
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < kSize; ++i) first[i] = i;  // RACE
#pragma omp for
    for (int i = 0; i < kSize; ++i) second[i] = first[kSize - 1 - i];  // RACE
  }
  use(second[5]);
  return 0;
}
