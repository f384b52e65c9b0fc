// Each round of a parallel loop reads what the round after it writes. The array is the function's own.
#include "program.h"

static void shift(int count) {
  int values[2000];
  for (int i = 0; i < count; ++i) values[i] = i;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < count - 1; ++i) values[i] = values[i + 1] + 1;  // RACE
  use(values[500]);
}

int main(void) {
  shift(2000);
  return 0;
}
