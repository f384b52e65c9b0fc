// A parallel loop keeps what each round needs for itself in one variable for all.
#include "program.h"

static int results[600];
int main(void) {
  int square;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 600; ++i) {
    square = i * i;           // RACE
    if (i % 100 == 0) pause_ms(1);
    results[i] = square + 1;  // RACE
  }
  use(results[500]);
  return 0;
}
