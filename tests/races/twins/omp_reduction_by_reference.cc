// A function adds to what it is given by reference, of a reduction or of all.
#include "twin.h"

static void add_to(long& sum, int value) { sum += value; }  // RACE

int main() {
  long sum = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) reduction(+ : sum)
#endif
  for (int i = 0; i < 60; ++i) add_to(sum, i);
  use(sum);
  return 0;
}
