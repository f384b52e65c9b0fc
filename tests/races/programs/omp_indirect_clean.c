// A parallel loop writes by way of a table of indices, in which each is there once.
#include "program.h"

static int indices[600], values[600];
int main(void) {
  for (int i = 0; i < 600; ++i) indices[i] = 599 - i;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 600; ++i) values[indices[i]] += i;
  use(values[200]);
  return 0;
}
