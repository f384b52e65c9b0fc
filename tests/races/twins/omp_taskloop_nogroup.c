// A taskloop without a group is not waited for.
#include "twin.h"

static int cells[8];

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#if RACY
#pragma omp taskloop nogroup num_tasks(8)
#else
#pragma omp taskloop num_tasks(8)
#endif
    for (int i = 0; i < 8; ++i) {
      pause_ms(1);
      cells[i] = i;  // RACE
    }
    for (int i = 0; i < 8; ++i) use(cells[i]);  // RACE
  }
  return 0;
}
