/* examples/dsm/kmeans.c by MPI. usage: mpirun kmeans_mpi [POINTS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCentres = 8, kRounds = 10 };
typedef struct {
  double x, y;
} Point;

static int nearest(const Point* centres, Point point, double* distance) {
  int best = 0;
  for (int c = 0; c < kCentres; c++) {
    const double x = centres[c].x - point.x, y = centres[c].y - point.y;
    if (c == 0 || x * x + y * y < *distance) {
      *distance = x * x + y * y;
      best = c;
    }
  }
  return best;
}

static Point point_at(long i) { return (Point){i * 7919 % 1000, i * i % 997}; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long count = argc > 1 ? atol(argv[1]) : 20000;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long from = rank * count / ranks, own = (rank + 1) * count / ranks - from;
  Point *points = malloc((own + 1) * sizeof *points), centres[kCentres];
  for (long i = 0; i < own; i++) points[i] = point_at(from + i);
  for (int c = 0; c < kCentres; c++) centres[c] = point_at(c * (count / kCentres));
  double inertia = 0;
  for (int round = 0; round < kRounds; round++) {
    double sums[3 * kCentres + 1] = {0}, distance = 0;
    for (long i = 0; i < own; i++) {
      double* sum = sums + 3 * nearest(centres, points[i], &distance);
      sum[0] += points[i].x;
      sum[1] += points[i].y;
      sum[2]++;
      sums[3 * kCentres] += distance;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, 3 * kCentres + 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int c = 0; c < kCentres; c++)
      if (sums[3 * c + 2] > 0)
        centres[c] = (Point){sums[3 * c] / sums[3 * c + 2], sums[3 * c + 1] / sums[3 * c + 2]};
    inertia = sums[3 * kCentres];
  }
  if (rank == 0) printf("kmeans: inertia %.2f a point\n", inertia / count);
  free(points);
  MPI_Finalize();
  return 0;
}
