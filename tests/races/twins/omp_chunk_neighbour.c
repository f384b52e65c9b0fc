// Pieces of four iterations also store the first place of the next piece.
#include "twin.h"

static int cells[65];

int main(void) {
#pragma omp parallel for schedule(static, 4) num_threads(3)
  for (int i = 0; i < 64; ++i) {
    cells[i] = i;  // RACE
    if (RACY && i % 4 == 3) cells[i + 1] = 0;  // RACE
  }
  use(cells[0]);
  return 0;
}
