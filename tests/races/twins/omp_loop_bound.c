// A loop construct of which the iterations may run in any order.
#include "twin.h"

static int numbers[100];

int main(void) {
  int least = 100;
  for (int i = 0; i < 100; ++i) numbers[i] = (i * 37) % 101;
#pragma omp parallel num_threads(3)
  {
#if RACY
#pragma omp loop bind(parallel)
    for (int i = 0; i < 100; ++i)
      if (numbers[i] < least) least = numbers[i];  // RACE
#else
#pragma omp loop bind(parallel) reduction(min : least)
    for (int i = 0; i < 100; ++i)
      if (numbers[i] < least) least = numbers[i];
#endif
  }
  use(least);
  return 0;
}
