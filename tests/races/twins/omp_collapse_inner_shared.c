// A variable that both loops use lies outside of them.
#include "twin.h"

static int table[12][12];

int main(void) {
  int t = 0;
#if RACY
#pragma omp parallel for collapse(2) num_threads(3)
#else
#pragma omp parallel for collapse(2) num_threads(3) firstprivate(t)
#endif
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) {
      t = i * 12 + j;   // RACE
      use(t);           // RACE
      table[i][j] = t;  // RACE
    }
  use(table[4][4]);
  return 0;
}
