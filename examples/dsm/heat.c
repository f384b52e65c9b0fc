/* Heat in a square plate whose upper edge is hot: each cell becomes the mean of its neighbours.
 * Each node has a band of rows; the barrier brings the rows at the bands' edges.
 * usage: heat [CELLS [STEPS]] */
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

static void* shared(size_t size) { /* one address on all nodes; zero */
  void* memory = weir_dsm_node() == 0 ? weir_dsm_alloc(size) : NULL;
  weir_dsm_share(&memory, sizeof memory, 0);
  return memory;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 100;
  const int node = weir_dsm_node(), nodes = weir_dsm_nodes();
  double *now = shared(n * n * sizeof *now), *next = shared(n * n * sizeof *next);
  const int from = node * n / nodes, to = (node + 1) * n / nodes;
  if (from == 0)
    for (int j = 0; j < n; j++) now[j] = next[j] = 100;
  weir_dsm_barrier(0);
  for (int step = 0; step < steps; step++) {
    for (int i = from > 1 ? from : 1; i < to && i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] +
                           now[i * n + j + 1]) /
                          4;
    weir_dsm_barrier_replay(1, WEIR_DSM_STATIC);
    double* other = now;
    now = next;
    next = other;
  }
  double sum = 0;
  for (int i = from * n; i < to * n; i++) sum += now[i];
  weir_dsm_reduce_double(&sum, 1, WEIR_DSM_SUM);
  if (node == 0) printf("heat: %.4f in the mean\n", sum / n / n);
  weir_dsm_finish();
  return 0;
}
