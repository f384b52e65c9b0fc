// firstprivate copies the pointer, not what it points to.
#include "twin.h"

int main(void) {
  int cells[3] = {0, 0, 0};
  int* pointer = cells;
#pragma omp parallel for firstprivate(pointer) num_threads(3)
  for (int i = 0; i < 3; ++i) *(pointer + (RACY ? 0 : i)) = i;  // RACE
  use(cells[0]);
  return 0;
}
