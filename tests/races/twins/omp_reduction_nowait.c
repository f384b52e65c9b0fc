// The sum of a reduction is read before all threads have added theirs.
#include "twin.h"

int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(+ : sum) nowait
    for (int i = 0; i < 90; ++i) sum += i;  // RACE
#if !RACY
#pragma omp barrier
#endif
    const long seen = 3 * sum;  // RACE
    use(seen);
  }
  return sum != 4005;
}
