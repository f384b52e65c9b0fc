// The variable by which two values are exchanged is shared by all iterations, or private.
#include "twin.h"

static int left[60], right[60];

int main(void) {
  int kept = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) private(kept)
#endif
  for (int i = 0; i < 60; ++i) {
    kept = left[i];  // RACE
    left[i] = right[i];
    right[i] = kept;  // RACE
  }
  use(left[3]);
  return 0;
}
