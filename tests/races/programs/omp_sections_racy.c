// Two sections, of which one writes what the other reads.
#include "program.h"

static int shared_value, seen;
int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    shared_value = 7;  // RACE
#pragma omp section
    {
      pause_ms(20);
      seen = shared_value + 1;  // RACE
    }
  }
  use(seen);
  return 0;
}
