// A parallel loop keeps what each round needs for itself in a private variable.
#include "program.h"

static int results[600];
int main(void) {
  int square;
#pragma omp parallel for num_threads(3) private(square)
  for (int i = 0; i < 600; ++i) {
    square = i * i;
    if (i % 100 == 0) pause_ms(1);
    results[i] = square + 1;
  }
  use(results[500]);
  return 0;
}
