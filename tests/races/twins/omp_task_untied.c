// Untied tasks count under a critical section, and the thread that made them reads the count behind
// the region. The runtime counts tasks under its lock and looks at the count without it.
#include "twin.h"

static int count;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 8; ++i) {
#pragma omp task untied
    {
#if RACY
      count += 1;  // RACE
#else
#pragma omp critical
      count += 1;
#endif
#pragma omp taskyield
    }
  }
  use(count);
  return 0;
}
