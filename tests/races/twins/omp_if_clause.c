// A loop with a dependence is parallel if a condition holds.
#include "twin.h"

int values[100];

int main(int count, char** unused) {
#pragma omp parallel for if (RACY ? count > 0 : count > 100) num_threads(3)
  for (int i = 0; i < 99; ++i) values[i + 1] = values[i] + 1;  // RACE
  use(values[5] + (unused == NULL));
  return 0;
}
