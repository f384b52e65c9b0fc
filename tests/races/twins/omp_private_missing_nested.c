// The inner loop's index of a nest belongs to all threads.
#include "twin.h"

static int cells[12][12];
static int shared_index;

int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 12; ++i) {
#if RACY
    for (shared_index = 0; shared_index < 12; ++shared_index)  // RACE
      cells[i][shared_index % 12] = i;                         // RACE
#else
    for (int j = 0; j < 12; ++j) cells[i][j] = i;
#endif
  }
  use(cells[2][3] + shared_index);
  return 0;
}
