// Chunks of a guided loop write one cell too many.
#include "twin.h"

int main(void) {
  static int cells[129];
#pragma omp parallel for schedule(guided, 4) num_threads(3)
  for (int i = 0; i < 128; ++i) {
    cells[i] = i;                   // RACE
    if (RACY) cells[i + 1] = i + 1;  // RACE
  }
  use(cells[64]);
  return 0;
}
