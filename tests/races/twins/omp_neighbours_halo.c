// Threads exchange the edges of their blocks; the racy ones without a barrier between.
#include <omp.h>

#include "twin.h"

int main(void) {
  int cells[3][16] = {{0}}, edge[3] = {0};
#pragma omp parallel num_threads(3) shared(cells, edge)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < 16; ++i) cells[me][i] = me + i;
    edge[me] = cells[me][15];  // RACE
#if !RACY
#pragma omp barrier
#endif
    cells[me][0] = edge[(me + 1) % 3];  // RACE
  }
  use(cells[1][0]);
  return 0;
}
