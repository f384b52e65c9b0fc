// A loop fills a table; one thread reads it behind the barrier at the end of the loop.
#include "program.h"

static int table[600], sum;

int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 0; i < 600; ++i) table[i] = 3 * i + 1;
#pragma omp single
    sum = table[5] + table[300] + table[595];
  }
  use(sum);
  return 0;
}
