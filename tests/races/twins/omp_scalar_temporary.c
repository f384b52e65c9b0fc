// A temporary of the loop's body is shared by the threads.
#include "twin.h"

int values[100];

int main(void) {
  int t = 0;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for num_threads(3) private(t)
#endif
  for (int i = 0; i < 100; ++i) {
    t = values[i] + i;  // RACE
    values[i] = t;  // RACE
  }
  use(values[5] + t);
  return 0;
}
