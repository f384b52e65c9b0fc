// One thread prepares a value that the others use after a barrier; in the racy twin the barrier is before it.
#include "twin.h"

int main(void) {
  int value = 0, sums[3] = {0};
#pragma omp parallel num_threads(3)
  {
    int mine = 0;
#pragma omp for
    for (int i = 0; i < 3; ++i) mine = i;
    if (RACY) {
#pragma omp barrier
    }
    if (mine == 0) value = 6;  // RACE
    if (!RACY) {
#pragma omp barrier
    }
    sums[mine] = value;  // RACE
  }
  use(sums[1]);
  return 0;
}
