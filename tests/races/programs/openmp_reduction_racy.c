// An OpenMP loop adds to a shared sum without a reduction clause.
#include "program.h"

int main(void) {
  long sum = 0;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 300; ++i) {
    sum += i;  // RACE
    use(i);
  }
  return sum == 0;
}
