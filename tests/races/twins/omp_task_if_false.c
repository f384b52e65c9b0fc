// Ten tasks count; the clean ones are undeferred.
#include "twin.h"

int main(void) {
  int var = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#if RACY
#pragma omp task shared(var)
#else
#pragma omp task shared(var) if (0)
#endif
    var++;  // RACE
  }
  use(var);
  return 0;
}
