// A dynamic loop reads eight elements ahead; the clean one reads a copy.
#include "twin.h"

static int cells[128], copy[128];

int main(void) {
  const int* from = RACY ? cells : copy;
#pragma omp parallel for schedule(dynamic, 4) num_threads(3)
  for (int i = 0; i < 120; ++i) cells[i] = from[i + 8] + 1;  // RACE
  use(cells[9]);
  return 0;
}
