/* examples/dsm/heat.c by OpenMP. usage: heat_openmp [CELLS [STEPS]] */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 100;
  double *now = calloc(n * n, sizeof *now), *next = calloc(n * n, sizeof *next), sum = 0;
  for (int j = 0; j < n; j++) now[j] = next[j] = 100;
  for (int step = 0; step < steps; step++) {
#pragma omp parallel for
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] +
                           now[i * n + j + 1]) /
                          4;
    double* other = now;
    now = next;
    next = other;
  }
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n * n; i++) sum += now[i];
  printf("heat: %.4f in the mean\n", sum / n / n);
  free(now);
  free(next);
  return 0;
}
