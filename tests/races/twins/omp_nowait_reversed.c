// The second of two static loops without a barrier goes through the array the other way round.
#include "twin.h"

static int first[120], second[120];

int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 120; ++i) first[i] = i;  // RACE
#pragma omp for schedule(static)
    for (int i = 0; i < 120; ++i) second[i] = first[RACY ? 119 - i : i];  // RACE
  }
  use(second[7]);
  return 0;
}
