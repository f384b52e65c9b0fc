// A triangle of pairs, collapsed into one loop; the racy one adds to both ends.
#include "twin.h"

static int cells[24], pairs[24][24];

int main(void) {
#pragma omp parallel for collapse(2) num_threads(3)
  for (int i = 0; i < 24; ++i)
    for (int j = 0; j < i; ++j) {
      if (RACY) {
        cells[i] += j;  // RACE
        cells[j] += i;  // RACE
      } else {
        pairs[i][j] = i * j;
      }
    }
  use(cells[3] + pairs[5][4]);
  return 0;
}
