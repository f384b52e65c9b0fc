// The update is in a critical region, the look at it before is not.
#include "twin.h"

int main(void) {
  int least = 1000;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 60; ++i) {
    int now = 1000;
#if !RACY
#pragma omp critical
#endif
    now = least;  // RACE
    if (100 - i < now) {
#pragma omp critical
      if (100 - i < least) least = 100 - i;  // RACE
    }
  }
  use(least);
  return 0;
}
