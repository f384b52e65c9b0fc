// Tasks of a group look for a number; the first that finds it cancels the group.
#include "twin.h"

int main(void) {
  int found = -1;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup
  for (int i = 0; i < 9; ++i) {
#pragma omp task shared(found) firstprivate(i)
    {
      pause_ms(1);
      if (i % 4 == 0) {
#if !RACY
#pragma omp critical
#endif
        found = i;  // RACE
#pragma omp cancel taskgroup
      }
    }
  }
  use(found);
  return 0;
}
