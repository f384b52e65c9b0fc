// A guided ordered loop over a long index sums in its ordered part, or before it.
#include "twin.h"

static unsigned long long sum;

int main(void) {
#pragma omp parallel for ordered schedule(guided) num_threads(3)
  for (unsigned long long i = 0; i < 40; ++i) {
#if RACY
    sum += i;  // RACE
#endif
#pragma omp ordered
    {
#if !RACY
      sum += i;
#endif
    }
  }
  use((long)sum);
  return 0;
}
