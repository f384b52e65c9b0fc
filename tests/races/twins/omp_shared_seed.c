// All iterations draw numbers from one seed, or threads have their own (threadprivate).
#include "twin.h"

static unsigned seed = 1;
#if !RACY
#pragma omp threadprivate(seed)
#endif

static unsigned draw(void) {
  seed = seed * 1103515245u + 12345u;  // RACE
  return seed >> 16;                   // RACE
}

int main(void) {
  unsigned inside = 0;
#pragma omp parallel for num_threads(3) reduction(+ : inside)
  for (int i = 0; i < 90; ++i) inside += draw() % 2;
  use(inside);
  return 0;
}
