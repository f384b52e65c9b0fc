// A loop by steps of two changes the next cell, too, or the one after that.
#include "twin.h"

static int cells[402];

int main(void) {
#pragma omp parallel for num_threads(3) schedule(static, 5)
  for (int i = 0; i < 400; i += 2) {
    cells[i] += i;             // RACE
    cells[i + 1 + RACY] += i;  // RACE
  }
  use(cells[20]);
  return 0;
}
