/* Conjugate gradients: the temperature in a rod that is heated evenly and cold at both ends, from
 * A x = 1 with A = tridiagonal(-1, 2.01, -1). The direction p is shared, as neighbours read it;
 * the rest is each node's own. usage: cg [UNKNOWNS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

static double dot(const double* left, const double* right, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++) sum += left[i] * right[i];
  weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
  return sum;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const long n = argc > 1 ? atol(argv[1]) : 10000, node = weir_dsm_node(), nodes = weir_dsm_nodes(),
             from = node * n / nodes, to = (node + 1) * n / nodes, own = to - from;
  double* p = node == 0 ? weir_dsm_alloc((n + 2) * sizeof *p) : NULL; /* zero before and behind */
  weir_dsm_share(&p, sizeof p, 0);
  p += from + 1;
  double *x = calloc(own, sizeof *x), *r = calloc(own, sizeof *r), *q = calloc(own, sizeof *q);
  for (long i = 0; i < own; i++) r[i] = p[i] = 1;
  double old = dot(r, r, own);
  for (int step = 0; step < 1000 && sqrt(old) > 1e-9; step++) {
    weir_dsm_barrier_replay(0, WEIR_DSM_STATIC);
    for (long i = 0; i < own; i++) q[i] = 2.01 * p[i] - p[i - 1] - p[i + 1];
    const double alpha = old / dot(p, q, own); /* a barrier too: all have read p */
    for (long i = 0; i < own; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    const double now = dot(r, r, own);
    for (long i = 0; i < own; i++) p[i] = r[i] + now / old * p[i];
    old = now;
  }
  double sum = 0;
  for (long i = 0; i < own; i++) sum += x[i];
  weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
  if (node == 0) printf("cg: %.4f in the mean\n", sum / n);
  weir_dsm_finish();
  return 0;
}
