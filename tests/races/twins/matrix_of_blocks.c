// A matrix is transposed in place by two threads, each half of the rows: those above the diagonal, or all.
#include "twin.h"

enum { kSide = 12 };
static int matrix[kSide][kSide];

static void* body(void* number) {
  const int first = kSide / 2 * (int)(long)number;
  for (int i = first; i < first + kSide / 2; ++i) {
    for (int j = RACY ? 0 : i + 1; j < kSide; ++j) {
      const int one = matrix[i][j];  // RACE
      matrix[i][j] = matrix[j][i];   // RACE
      matrix[j][i] = one;            // RACE
    }
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < kSide * kSide; ++i) matrix[i / kSide][i % kSide] = i;
  run_threads(2, body);
  use(matrix[3][4]);
  return 0;
}
