// Two tasks: one makes a value, the other one uses it, and depends on it.
#include "program.h"

static int made, used;

int main(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : made)
    {
      pause_ms(20);
      made = 7;
    }
#pragma omp task depend(in : made)
    used = made + 1;
  }
  use(used);
  return 0;
}
