// Each round of a parallel loop reads what the round before it writes.
#include "program.h"

static int values[1000];
int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 999; ++i) values[i + 1] = values[i] + 1;  // RACE
  use(values[500]);
  return 0;
}
