// Two threads compute rows; a flag for each cell, set atomically, says how far the row above is.
#include "twin.h"

enum { kSide = 12 };
static int cells[kSide][kSide], flags[kSide][kSide];

int main(void) {
#pragma omp parallel for schedule(static, 1) num_threads(2)
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      if (i > 0) {
        int ready = RACY && i == 5;
        while (!ready) {
#pragma omp atomic read acquire
          ready = flags[i - 1][j];
          if (!ready) sched_yield();
        }
      }
      cells[i][j] = i ? cells[i - 1][j] + 1 : j;  // RACE
#pragma omp atomic write release
      flags[i][j] = 1;
    }
  }
  use(cells[3][4]);
  return 0;
}
