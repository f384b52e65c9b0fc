// Two sections store the same variable.
#include "twin.h"

int main(void) {
  int i = 0, j = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    i = 1;  // RACE
#pragma omp section
    {
      if (RACY) i = 2;  // RACE
      j = 2;
    }
  }
  use(i + j);
  return 0;
}
