// Threads leave a region by cancellation points; what they count needs an atomic.
#include "twin.h"

int main(void) {
  int tries = 0;
#pragma omp parallel num_threads(3)
  {
    for (int i = 0; i < 20; ++i) {
#if !RACY
#pragma omp atomic
#endif
      tries++;  // RACE
#pragma omp cancellation point parallel
    }
#pragma omp cancel parallel
  }
  use(tries);
  return 0;
}
