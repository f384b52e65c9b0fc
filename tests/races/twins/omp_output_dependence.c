// Each iteration reads the scalar that each iteration also stores.
#include "twin.h"

int values[100];

int main(void) {
  int x = 10;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) firstprivate(x)
#endif
  for (int i = 0; i < 100; ++i) {
    values[i] = x;  // RACE
    x = i;  // RACE
  }
  use(values[9]);
  return 0;
}
