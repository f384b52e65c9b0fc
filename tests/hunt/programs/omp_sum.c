// An OpenMP loop adds to a shared sum without a reduction.
#include "planted.h"

static volatile int sum;

int main(void) {
#ifdef FIXED
  int total = 0;
#pragma omp parallel for num_threads(2) reduction(+ : total)
  for (int i = 0; i < 4; i++) total += i;
  sum = total;
#else
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 4; i++) sum = sum + i;
#endif
  REQUIRE(sum == 6);
  return 0;
}
