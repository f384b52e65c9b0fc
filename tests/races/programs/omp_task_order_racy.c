// Two tasks: one makes a value, the other one uses it, and nothing says that it comes later.
#include "program.h"

static int made, used;

int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task
    {
      pause_ms(20);
      made = 7;  // RACE
    }
#pragma omp task
    used = made + 1;  // RACE
  }
  use(used);
  return 0;
}
