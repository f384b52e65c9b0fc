/* Breadth-first search: how far is each vertex of a graph from vertex 0? Each node looks after the
 * vertices of its part, and asks whether a vertex with an edge to one of them was reached in the
 * step before. usage: bfs [VERTICES] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

enum { kEdges = 3 };

static int64_t source_of(int64_t vertex, int edge, int64_t count) { /* of an edge to the vertex */
  const int64_t factors[kEdges] = {5, 7, 1}, offsets[kEdges] = {1, 3, count - 1};
  return (vertex * factors[edge] + offsets[edge]) % count;
}

int main(int argc, char** argv) {
  weir_dsm_start(&argc, &argv);
  const int64_t count = argc > 1 ? atol(argv[1]) : 30000, node = weir_dsm_node(),
                nodes = weir_dsm_nodes(), from = node * count / nodes,
                to = (node + 1) * count / nodes;
  int32_t* depth = node == 0 ? weir_dsm_alloc(count * sizeof *depth) : NULL; /* 0: not reached */
  weir_dsm_share(&depth, sizeof depth, 0);
  int64_t* found = malloc((to - from + 1) * sizeof *found);
  if (node == 0) depth[0] = 1;
  weir_dsm_barrier(0);
  int64_t result[2] = {0, 0}, news = 1; /* reached; the sum of their depths */
  for (int32_t step = 1; news > 0; step++) {
    news = 0;
    for (int64_t vertex = from; vertex < to; vertex++)
      for (int edge = 0; depth[vertex] == 0 && edge < kEdges; edge++)
        if (depth[source_of(vertex, edge, count)] == step) {
          found[news++] = vertex;
          break;
        }
    weir_dsm_barrier(1); /* all have looked */
    for (int64_t i = 0; i < news; i++) depth[found[i]] = step + 1;
    weir_dsm_reduce_int64(&news, 1, WEIR_DSM_SUM); /* a barrier too: all have written */
  }
  for (int64_t vertex = from; vertex < to; vertex++) {
    result[0] += depth[vertex] > 0;
    result[1] += depth[vertex] > 0 ? depth[vertex] - 1 : 0;
  }
  weir_dsm_reduce_int64(result, 2, WEIR_DSM_SUM);
  if (node == 0) printf("bfs: %ld reached, %ld steps in all\n", (long)result[0], (long)result[1]);
  free(found);
  weir_dsm_finish();
  return 0;
}
