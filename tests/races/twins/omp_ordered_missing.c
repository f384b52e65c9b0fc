// The loop is ordered, but the statement is not in the ordered region.
#include "twin.h"

int main(void) {
  int x = 0;
#pragma omp parallel for ordered num_threads(3)
  for (int i = 0; i < 30; ++i) {
#if !RACY
#pragma omp ordered
#endif
    x++;  // RACE
  }
  use(x);
  return 0;
}
