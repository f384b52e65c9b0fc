// A grid is relaxed in place, or in two colours.
#include "twin.h"

enum { kSize = 40 };
static double grid[kSize][kSize];

int main(void) {
  for (int i = 0; i < kSize; ++i) grid[0][i] = 1;
  for (int round = 0; round < 4; ++round)
    for (int colour = 0; colour < (RACY ? 1 : 2); ++colour) {
#pragma omp parallel for num_threads(3)
      for (int i = 1; i < kSize - 1; ++i)
        for (int j = 1; j < kSize - 1; ++j) {
          if (!RACY && (i + j) % 2 != colour) continue;
          grid[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4;  // RACE
        }
    }
  use((long)grid[3][3]);
  return 0;
}
