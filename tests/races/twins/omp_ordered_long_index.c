// An ordered loop over a long index; the racy one stores outside of the ordered part.
#include "twin.h"

static unsigned long long last;

int main(void) {
#pragma omp parallel for ordered schedule(dynamic) num_threads(3)
  for (unsigned long long i = 0; i < 30; ++i) {
    use((long)i);
#if RACY
    last = i;  // RACE
#endif
#pragma omp ordered
    {
#if !RACY
      last = i;
#endif
      use((long)last);
    }
  }
  return 0;
}
