// A loop with a wait at its end: the last element is read when all are written.
#include "program.h"

static int values[300];
static int last;
int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 0; i < 300; ++i) {
      if (i == 299) pause_ms(30);
      values[i] = i;
    }
#pragma omp single
    last = values[299] + 1;
  }
  use(last);
  return 0;
}
