// What one thread reads in a single region the others use from a shared variable.
#include <omp.h>

#include "twin.h"

static int input, sums[4];

int main(void) {
  omp_set_num_threads(4);
#pragma omp parallel
  {
    int mine = 0;
    if (RACY) {
#pragma omp single nowait
      input = 5;  // RACE
      mine = input;  // RACE
    } else {
#pragma omp single copyprivate(mine)
      mine = 5;
    }
    sums[omp_get_thread_num()] = mine;
  }
  use(sums[1]);
  return 0;
}
