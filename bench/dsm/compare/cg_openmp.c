/* examples/dsm/cg.c by OpenMP. usage: cg_openmp [UNKNOWNS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double dot(const double* left, const double* right, long count) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < count; i++) sum += left[i] * right[i];
  return sum;
}

int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 10000;
  double *all = calloc(n + 2, sizeof *all), *p = all + 1; /* zero before and behind */
  double *x = calloc(n, sizeof *x), *r = calloc(n, sizeof *r), *q = calloc(n, sizeof *q), sum = 0;
  for (long i = 0; i < n; i++) r[i] = p[i] = 1;
  double old = dot(r, r, n);
  for (int step = 0; step < 1000 && sqrt(old) > 1e-9; step++) {
#pragma omp parallel for
    for (long i = 0; i < n; i++) q[i] = 2.01 * p[i] - p[i - 1] - p[i + 1];
    const double alpha = old / dot(p, q, n);
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double now = dot(r, r, n);
#pragma omp parallel for
    for (long i = 0; i < n; i++) p[i] = r[i] + now / old * p[i];
    old = now;
  }
  for (long i = 0; i < n; i++) sum += x[i];
  printf("cg: %.4f in the mean\n", sum / n);
  free(all);
  free(x);
  free(r);
  free(q);
  return 0;
}
