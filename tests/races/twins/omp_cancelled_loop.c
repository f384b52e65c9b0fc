// A search stops a loop by cancel; what was found is written under a critical section, or plainly.
#include "twin.h"

static int found = -1, numbers[96];

int main(void) {
  for (int i = 0; i < 96; ++i) numbers[i] = i % 24;
#pragma omp parallel num_threads(3)
#pragma omp for schedule(static)
  for (int i = 0; i < 96; ++i) {
    if (numbers[i] == 7) {
#if RACY
      found = i;  // RACE
#else
#pragma omp critical
      found = i;
#endif
    }
#pragma omp cancellation point for
  }
  use(found);
  return 0;
}
