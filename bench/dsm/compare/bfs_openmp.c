/* examples/dsm/bfs.c by OpenMP. usage: bfs_openmp [VERTICES] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kEdges = 3 };

static int64_t source_of(int64_t vertex, int edge, int64_t count) { /* of an edge to the vertex */
  const int64_t factors[kEdges] = {5, 7, 1}, offsets[kEdges] = {1, 3, count - 1};
  return (vertex * factors[edge] + offsets[edge]) % count;
}

int main(int argc, char** argv) {
  const int64_t count = argc > 1 ? atol(argv[1]) : 30000;
  int32_t* depth = calloc(count, sizeof *depth); /* 0: not reached */
  char* found = calloc(count, 1);
  int64_t reached = 0, steps = 0, news = 1;
  depth[0] = 1;
  for (int32_t step = 1; news > 0; step++) {
    news = 0;
#pragma omp parallel for reduction(+ : news)
    for (int64_t vertex = 0; vertex < count; vertex++) {
      found[vertex] = 0;
      for (int edge = 0; depth[vertex] == 0 && edge < kEdges; edge++)
        if (depth[source_of(vertex, edge, count)] == step) {
          found[vertex] = 1;
          news++;
          break;
        }
    }
#pragma omp parallel for
    for (int64_t vertex = 0; vertex < count; vertex++)
      if (found[vertex]) depth[vertex] = step + 1;
  }
#pragma omp parallel for reduction(+ : reached, steps)
  for (int64_t vertex = 0; vertex < count; vertex++) {
    reached += depth[vertex] > 0;
    steps += depth[vertex] > 0 ? depth[vertex] - 1 : 0;
  }
  printf("bfs: %ld reached, %ld steps in all\n", (long)reached, (long)steps);
  free(depth);
  free(found);
  return 0;
}
