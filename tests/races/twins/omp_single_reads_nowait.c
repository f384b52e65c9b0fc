// A loop without its barrier is followed by a single region that adds up what all have stored.
#include "twin.h"

static int cells[60];

int main(void) {
  long sum = 0;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < 60; ++i) cells[i] = i;  // RACE
#pragma omp single
    for (int i = 0; i < 60; ++i) sum += cells[i];  // RACE
  }
  use(sum);
  return 0;
}
