// What the last iteration stores is wanted, but lastprivate is missing.
#include "twin.h"

int main(void) {
  int x = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) lastprivate(x)
#endif
  for (int i = 0; i < 100; ++i) x = i;  // RACE
  use(x);
  return 0;
}
