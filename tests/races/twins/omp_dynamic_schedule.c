// Chunks are given out dynamically, and every chunk's first iteration stores one variable.
#include "twin.h"

int last, values[64];

int main(void) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(3)
  for (int i = 0; i < 64; ++i) {
    values[i] = i;
    if (i % 4 == 0) {
#if !RACY
#pragma omp critical
#endif
      last = i;  // RACE
    }
  }
  use(last);
  return 0;
}
