// Each round of a parallel loop reads one array and writes another.
#include "program.h"

static int values[1000], results[1000];
int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 999; ++i) results[i + 1] = values[i] + 1;
  use(results[500]);
  return 0;
}
