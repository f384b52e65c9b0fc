// A structure that iterations fill and use; the clean threads have one each.
#include "twin.h"

static double sums[60];

int main(void) {
  struct {
    double x, y;
  } point = {0, 0};
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) private(point)
#endif
  for (int i = 0; i < 60; ++i) {
    point.x = i;                    // RACE
    point.y = 2 * i;                // RACE
    sums[i] = point.x + point.y;    // RACE
  }
  use((long)sums[3]);
  return 0;
}
