// A thread that finds the number stores where, and others look whether it has been found.
#include "twin.h"

int main(void) {
  int found = -1;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 90; ++i) {
    int now;
#if !RACY
#pragma omp critical
#endif
    now = found;  // RACE
    if (now < 0 && i % 30 == 7) {
#if !RACY
#pragma omp critical
#endif
      found = i;  // RACE
    }
  }
  use(found);
  return 0;
}
