// Rows of a table are computed beside each other; the racy ones begin with the end of the row before.
#include "twin.h"

int cells[20 * 20];

int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 1; i < 20; ++i)
    for (int j = RACY ? 0 : 1; j < 20; ++j) cells[i * 20 + j] = cells[i * 20 + j - 1] + 1;  // RACE
  use(cells[399]);
  return 0;
}
