// Each thread counts for itself, and adds to the common counts at its end.
#include "twin.h"

static int all[8];

int main(void) {
#pragma omp parallel num_threads(3)
  {
    int own[8] = {0};
#pragma omp for nowait
    for (int i = 0; i < 200; ++i) own[i * 7 % 8]++;
#if !RACY
#pragma omp critical
#endif
    for (int i = 0; i < 8; ++i) all[i] += own[i];  // RACE
  }
  use(all[3]);
  return 0;
}
