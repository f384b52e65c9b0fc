// Two sections, of which each writes something of its own.
#include "program.h"

static int shared_value, seen;
int main(void) {
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    shared_value = 7;
#pragma omp section
    {
      pause_ms(20);
      seen = 1;
    }
  }
  use(seen + shared_value);
  return 0;
}
