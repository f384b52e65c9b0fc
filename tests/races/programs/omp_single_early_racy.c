// A loop without a barrier at its end fills a table; one thread then reads a cell that another one
// may still write.
#include "program.h"

static int table[600], sum;

int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp for nowait
    for (int i = 0; i < 600; ++i) table[i] = 3 * i + 1;  // RACE
#pragma omp single
    sum = table[5] + table[300] + table[595];  // RACE
  }
  use(sum);
  return 0;
}
