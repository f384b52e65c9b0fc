// A dynamic loop over a long index draws places by a counter of its own.
#include "twin.h"

static long next;

int main(void) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(3)
  for (unsigned long long i = 0; i < 60; ++i) {
#if !RACY
#pragma omp critical
#endif
    next++;  // RACE
  }
  use(next);
  return 0;
}
