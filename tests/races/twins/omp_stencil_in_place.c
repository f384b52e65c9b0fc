// A stencil reads its neighbours from the array that it writes.
#include "twin.h"

enum { kSize = 64 };

int main(void) {
  double old[kSize], now[kSize];
  for (int i = 0; i < kSize; ++i) old[i] = now[i] = i;
  const double* from = RACY ? now : old;
#pragma omp parallel for num_threads(4)
  for (int i = 1; i < kSize - 1; ++i) now[i] = from[i - 1] + from[i + 1];  // RACE
  use((long)now[3]);
  return 0;
}
