/* examples/dsm/heat.c by MPI: each rank has its rows and one more above and below, which it
 * exchanges. usage: mpirun heat_mpi [CELLS [STEPS]] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 100;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int from = rank * n / ranks, to = (rank + 1) * n / ranks, rows = to - from;
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double *now = calloc((rows + 2) * n, sizeof *now), *next = calloc((rows + 2) * n, sizeof *next);
  if (rank == 0)
    for (int j = 0; j < n; j++) now[n + j] = next[n + j] = 100;
  for (int step = 0; step < steps; step++) {
    MPI_Sendrecv(now + n, n, MPI_DOUBLE, above, 0, now + (rows + 1) * n, n, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + rows * n, n, MPI_DOUBLE, below, 1, now, n, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= rows; i++) {
      if (from + i - 1 == 0 || from + i - 1 == n - 1) continue;
      for (int j = 1; j < n - 1; j++)
        next[i * n + j] = (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] +
                           now[i * n + j + 1]) /
                          4;
    }
    double* other = now;
    now = next;
    next = other;
  }
  double sum = 0, all = 0;
  for (int i = n; i < (rows + 1) * n; i++) sum += now[i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("heat: %.4f in the mean\n", all / n / n);
  free(now);
  free(next);
  MPI_Finalize();
  return 0;
}
