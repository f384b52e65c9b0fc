// Threads exchange elements across the diagonal; the racy ones also those of each other's triangle.
#include "twin.h"

enum { kSize = 16 };
static int matrix[kSize][kSize];

static void* body(void* number) {
  const int me = (int)(long)number;
  for (int i = me; i < kSize; i += 2) {
    for (int j = RACY ? 0 : i + 1; j < kSize; ++j) {
      const int kept = matrix[i][j];  // RACE
      matrix[i][j] = matrix[j][i];    // RACE
      matrix[j][i] = kept;            // RACE
    }
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < kSize * kSize; ++i) matrix[i / kSize][i % kSize] = i;
  run_threads(2, body);
  use(matrix[1][2]);
  return 0;
}
