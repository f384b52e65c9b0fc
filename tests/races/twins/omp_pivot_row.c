// Elimination: the row that all read is stored by one of them, too.
#include "twin.h"

enum { kSize = 12 };
static double rows[kSize][kSize];

int main(void) {
  for (int i = 0; i < kSize; ++i)
    for (int j = 0; j < kSize; ++j) rows[i][j] = i == j ? 4 : 1;
  for (int pivot = 0; pivot < kSize - 1; ++pivot) {
#pragma omp parallel for num_threads(3)
    for (int i = RACY ? pivot : pivot + 1; i < kSize; ++i) {
      const double factor = rows[i][pivot] / rows[pivot][pivot] / 2;  // RACE
      for (int j = pivot; j < kSize; ++j) rows[i][j] -= factor * rows[pivot][j];  // RACE
    }
  }
  use((long)rows[3][3]);
  return 0;
}
