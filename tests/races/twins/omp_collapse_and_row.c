// Of two collapsed loops each adds to the row's sum; the rows are no more one thread's.
#include "twin.h"

static long rows[5];

int main(void) {
#if RACY
#pragma omp parallel for num_threads(3) collapse(2)
#else
#pragma omp parallel for num_threads(3)
#endif
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 10; ++k) rows[i] += k;  // RACE
  }
  use(rows[2]);
  return 0;
}
