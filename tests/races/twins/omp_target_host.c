// A target region that runs on the host has a dependence between iterations.
#include "twin.h"

int values[300];

int main(void) {
#pragma omp target map(tofrom : values)
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 299; ++i) values[i] = values[i + RACY] + 1;  // RACE
  use(values[5]);
  return 0;
}
