// A loop in which each round reads what the round after it writes is not parallel; the one after it is.
#include "program.h"

static void shift(int count) {
  int values[2000];
  for (int i = 0; i < count; ++i) values[i] = i;
  for (int i = 0; i < count - 1; ++i) values[i] = values[i + 1] + 1;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < count; ++i) values[i] *= 2;
  use(values[500]);
}

int main(void) {
  shift(2000);
  return 0;
}
