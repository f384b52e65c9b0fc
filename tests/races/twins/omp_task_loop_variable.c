// Tasks read the loop's variable, which the thread that makes them changes meanwhile.
#include "twin.h"

int main(void) {
  int i = 0, cells[16] = {0};
  use((long)&i);  // or the compiler hands its value to the tasks
#pragma omp parallel num_threads(3)
#pragma omp single
  for (i = 0; i < 16; ++i) {  // RACE
#if RACY
#pragma omp task shared(i, cells)
#else
#pragma omp task firstprivate(i) shared(cells)
#endif
    cells[i & 15] = i;  // RACE
  }
  use(cells[3]);
  return 0;
}
