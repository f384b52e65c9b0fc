// A scope's reduction is complete at its end, unless nobody waits there.
#include "twin.h"

int main(void) {
  int total = 0;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp scope reduction(+ : total) nowait
#else
#pragma omp scope reduction(+ : total)
#endif
    total += 1;  // RACE
    const int seen = 3 * total;  // RACE
    use(seen);
  }
  return 0;
}
