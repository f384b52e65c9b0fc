/* examples/dsm/bfs.c by MPI: all ranks have all depths, and exchange their parts after each step.
 * usage: mpirun bfs_mpi [VERTICES] */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kEdges = 3 };

static int64_t source_of(int64_t vertex, int edge, int64_t count) { /* of an edge to the vertex */
  const int64_t factors[kEdges] = {5, 7, 1}, offsets[kEdges] = {1, 3, count - 1};
  return (vertex * factors[edge] + offsets[edge]) % count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int64_t count = argc > 1 ? atol(argv[1]) : 30000;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *from = malloc((ranks + 1) * sizeof *from), *sizes = malloc(ranks * sizeof *sizes);
  for (int i = 0; i <= ranks; i++) from[i] = i * count / ranks;
  for (int i = 0; i < ranks; i++) sizes[i] = from[i + 1] - from[i];
  int32_t *depth = calloc(count, sizeof *depth), *own = calloc(sizes[rank] + 1, sizeof *own);
  int64_t result[2] = {0, 0}, news = 1;
  depth[0] = 1;
  for (int32_t step = 1; news > 0; step++) {
    news = 0;
    for (int i = 0; i < sizes[rank]; i++) {
      own[i] = depth[from[rank] + i];
      for (int edge = 0; own[i] == 0 && edge < kEdges; edge++)
        if (depth[source_of(from[rank] + i, edge, count)] == step) own[i] = step + 1;
      news += own[i] == step + 1;
    }
    MPI_Allgatherv(own, sizes[rank], MPI_INT32_T, depth, sizes, from, MPI_INT32_T, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &news, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int64_t vertex = 0; vertex < count; vertex++) {
    result[0] += depth[vertex] > 0;
    result[1] += depth[vertex] > 0 ? depth[vertex] - 1 : 0;
  }
  if (rank == 0) printf("bfs: %ld reached, %ld steps in all\n", (long)result[0], (long)result[1]);
  free(depth);
  free(own);
  free(from);
  free(sizes);
  MPI_Finalize();
  return 0;
}
