// The greatest of many numbers by an if, without a reduction.
#include "twin.h"

int main(void) {
  int numbers[60], greatest = -1;
  for (int i = 0; i < 60; ++i) numbers[i] = 7 * i % 60;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) reduction(max : greatest)
#endif
  for (int i = 0; i < 60; ++i)
    if (numbers[i] > greatest) greatest = numbers[i];  // RACE
  use(greatest);
  return 0;
}
