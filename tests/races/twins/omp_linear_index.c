// Iteration i stores cell 2 i + 1, which iteration 2 i + 1 reads.
#include "twin.h"

int values[400];

int main(void) {
  int step = RACY ? 1 : 2;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 199; ++i) values[2 * i + 1] = values[i * step] + 1;  // RACE
  use(values[7]);
  return 0;
}
