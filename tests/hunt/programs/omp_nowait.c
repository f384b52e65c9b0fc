// One thread of a team sets a value up, the others do not wait for it.
#include "planted.h"

static volatile int table, wrong;

int main(void) {
#pragma omp parallel num_threads(2)
  {
#ifdef FIXED
#pragma omp single
#else
#pragma omp single nowait
#endif
    table = 5;
    if (table != 5) wrong = 1;
  }
  REQUIRE(!wrong);
  return 0;
}
