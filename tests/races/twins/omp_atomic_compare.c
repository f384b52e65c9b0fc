// The least value by atomic compare, or by a comparison and a store.
#include "twin.h"

int main(void) {
  int least = 1000;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 90; ++i) {
#if RACY
    if (least > 500 - i) least = 500 - i;  // RACE
#else
#pragma omp atomic compare
    least = least > 500 - i ? 500 - i : least;
#endif
  }
  use(least);
  return 0;
}
