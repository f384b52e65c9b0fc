// A value is exchanged by an atomic capture; the racy twin reads and writes.
#include "twin.h"

int main(void) {
  long current = 1;
#pragma omp parallel num_threads(3)
  for (long i = 0; i < 40; ++i) {
    long old;
#if RACY
    old = current;  // RACE
    current = i;    // RACE
#else
#pragma omp atomic capture
    {
      old = current;
      current = i;
    }
#endif
    use(old);
  }
  use(current);
  return 0;
}
