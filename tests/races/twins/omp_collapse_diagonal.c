// Two collapsed loops add to cells by the sum of both indices.
#include "twin.h"

int main(void) {
  int cells[32] = {0};
#pragma omp parallel for collapse(2) num_threads(3)
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int at = RACY ? i / 2 + j : 2 * i + j;
      cells[at]++;  // RACE
    }
  }
  use(cells[2]);
  return 0;
}
