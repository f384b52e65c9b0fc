// Every iteration adds the first element, which the first iteration changes.
#include "twin.h"

int values[300];

int main(void) {
  values[0] = 2;
#pragma omp parallel for num_threads(3)
  for (int i = RACY ? 0 : 1; i < 300; ++i) values[i] = values[i] + values[0];  // RACE
  use(values[7]);
  return 0;
}
