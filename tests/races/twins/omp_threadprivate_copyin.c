// A threadprivate variable has its value from the first thread, and is then each thread's own; a
// pointer to the first thread's one is not.
#include "twin.h"

static int mine;
#pragma omp threadprivate(mine)

int main(void) {
  mine = 3;
  int* of_first = &mine;
#pragma omp parallel num_threads(3) copyin(mine)
  {
    int* where = RACY ? of_first : &mine;
    *where += 1;  // RACE
  }
  use(mine);
  return 0;
}
