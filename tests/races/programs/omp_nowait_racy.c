// A loop without a wait at its end: another thread reads the last element before it is written.
#include "program.h"

static int values[300];
static int last;
int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for nowait
    for (int i = 0; i < 300; ++i) {
      if (i == 299) pause_ms(30);
      values[i] = i;  // RACE
    }
#pragma omp single
    last = values[299] + 1;  // RACE
  }
  use(last);
  return 0;
}
