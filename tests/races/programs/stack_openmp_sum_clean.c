// A parallel region adds to a local variable of the function that it is in, by a reduction.
#include "program.h"

static long sum(const int* values, int count) {
  long total = 0;
#pragma omp parallel for num_threads(3) reduction(+ : total)
  for (int i = 0; i < count; ++i) {
    if (i % 16 == 0) pause_ms(1);
    total += values[i];
  }
  return total;
}

int main(void) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = i;
  use(sum(values, 64));
  return 0;
}
