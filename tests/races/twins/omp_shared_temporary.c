// Two loops of one region use a temporary that only one of them has private.
#include "twin.h"

int main(void) {
  int t = 0, cells[48];
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for
#else
#pragma omp for private(t)
#endif
    for (int i = 0; i < 48; ++i) {
      t = i * 2;     // RACE
      cells[i] = t;  // RACE
    }
  }
  use(cells[4] + t);
  return 0;
}
