// A product of products of matrices in one region: the second waits for the first.
#include "twin.h"

enum { kSize = 24 };
static double a[kSize][kSize], b[kSize][kSize], first[kSize][kSize], result[kSize][kSize];

int main(void) {
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) a[i][j] = i + j, b[i][j] = i - j;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) {
        first[i][j] = 0;  // RACE
        for (int k = 0; k < kSize; ++k) first[i][j] += a[i][k] * b[k][j];  // RACE
      }
#pragma omp for
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) {
        double sum = 0;
        for (int k = 0; k < kSize; ++k) sum += a[i][k] * first[k][j];  // RACE
        result[i][j] = sum;
      }
  }
  use((long)result[3][3]);
  return 0;
}
