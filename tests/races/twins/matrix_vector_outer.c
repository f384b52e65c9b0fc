// The loop over columns is run in parallel: each adds to the same rows.
#include <omp.h>

#include "twin.h"

static int matrix[40][40], vector[40], result[40];

int main(void) {
  omp_set_num_threads(4);
  for (int i = 0; i < 40; ++i) {
    vector[i] = i;
    for (int k = 0; k < 40; ++k) matrix[i][k] = i ^ k;
  }
  if (RACY) {
#pragma omp parallel for
    for (int k = 0; k < 40; ++k)
      for (int i = 0; i < 40; ++i) result[i] += matrix[i][k] * vector[k];  // RACE
  } else {
#pragma omp parallel for
    for (int i = 0; i < 40; ++i)
      for (int k = 0; k < 40; ++k) result[i] += matrix[i][k] * vector[k];
  }
  use(result[3]);
  return 0;
}
