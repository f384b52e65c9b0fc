// A masked region sets what the others read behind it: it has no barrier of its own.
#include "twin.h"

static int limit;

int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp masked
    limit = 8;  // RACE
#if !RACY
#pragma omp barrier
#endif
    use(limit);  // RACE
  }
  return 0;
}
