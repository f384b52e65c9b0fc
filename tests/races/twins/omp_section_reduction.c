// The greatest value is asked for outside the critical section in which it is changed.
#include "twin.h"

int main(void) {
  int best = 0;
#pragma omp parallel for num_threads(3) schedule(static, 1) shared(best)
  for (int i = 0; i < 60; ++i) {
    const int value = (i * 37) % 61;
#if RACY
    if (value <= best) continue;  // RACE
#endif
#pragma omp critical
    if (value > best) best = value;  // RACE
  }
  use(best);
  return 0;
}
