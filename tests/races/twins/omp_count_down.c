// What is left is counted down for cells that fulfil a condition.
#include "twin.h"

int values[200], left = 200;

int main(void) {
  for (int i = 0; i < 200; ++i) values[i] = i % 3;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 200; ++i) {
    if (values[i] == 0) {
#if !RACY
#pragma omp atomic
#endif
      left--;  // RACE
    }
  }
  use(left);
  return 0;
}
