// The last value is shared and written by each iteration, or lastprivate.
#include "twin.h"

int main(void) {
  int last = 0;
#if RACY
#pragma omp parallel for num_threads(3) shared(last)
#else
#pragma omp parallel for num_threads(3) lastprivate(last)
#endif
  for (int i = 0; i < 60; ++i) last = i * 2;  // RACE
  use(last);
  return 0;
}
