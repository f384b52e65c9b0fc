/* examples/dsm/cg.c by MPI: each rank exchanges the values at its part's edges.
 * usage: mpirun cg_mpi [UNKNOWNS] */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double dot(const double* left, const double* right, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++) sum += left[i] * right[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long n = argc > 1 ? atol(argv[1]) : 10000;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long own = (rank + 1) * n / ranks - rank * n / ranks;
  const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int behind = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  double *all = calloc(own + 2, sizeof *all), *p = all + 1;
  double *x = calloc(own, sizeof *x), *r = calloc(own, sizeof *r), *q = calloc(own, sizeof *q);
  for (long i = 0; i < own; i++) r[i] = p[i] = 1;
  double old = dot(r, r, own), sum = 0, total = 0;
  for (int step = 0; step < 1000 && sqrt(old) > 1e-9; step++) {
    MPI_Sendrecv(p, 1, MPI_DOUBLE, before, 0, p + own, 1, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(p + own - 1, 1, MPI_DOUBLE, behind, 1, p - 1, 1, MPI_DOUBLE, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 0; i < own; i++) q[i] = 2.01 * p[i] - p[i - 1] - p[i + 1];
    const double alpha = old / dot(p, q, own);
    for (long i = 0; i < own; i++) x[i] += alpha * p[i];
    for (long i = 0; i < own; i++) r[i] -= alpha * q[i];
    const double now = dot(r, r, own);
    for (long i = 0; i < own; i++) p[i] = r[i] + now / old * p[i];
    old = now;
  }
  for (long i = 0; i < own; i++) sum += x[i];
  MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("cg: %.4f in the mean\n", total / n);
  free(all);
  free(x);
  free(r);
  free(q);
  MPI_Finalize();
  return 0;
}
