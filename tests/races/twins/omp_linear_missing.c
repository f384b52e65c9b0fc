// A second index is counted beside the loop's.
#include "twin.h"

double a[200], b[200], c[200];

int main(void) {
  int j = 0;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 100; ++i) {
#if RACY
    c[j] += a[i] * b[i];  // RACE
    j++;  // RACE
#else
    c[i] += a[i] * b[i];
#endif
  }
  use((long)c[3] + j);
  return 0;
}
