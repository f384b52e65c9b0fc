/* examples/dsm/kmeans.c by OpenMP. usage: kmeans_openmp [POINTS] */
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

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 20000;
  Point *points = malloc(count * sizeof *points), centres[kCentres];
#pragma omp parallel for
  for (long i = 0; i < count; i++) points[i] = (Point){i * 7919 % 1000, i * i % 997};
  for (int c = 0; c < kCentres; c++) centres[c] = points[c * (count / kCentres)];
  double inertia = 0;
  for (int round = 0; round < kRounds; round++) {
    double sums[3 * kCentres + 1] = {0};
#pragma omp parallel for reduction(+ : sums)
    for (long i = 0; i < count; i++) {
      double distance = 0, *sum = sums + 3 * nearest(centres, points[i], &distance);
      sum[0] += points[i].x;
      sum[1] += points[i].y;
      sum[2]++;
      sums[3 * kCentres] += distance;
    }
    for (int c = 0; c < kCentres; c++)
      if (sums[3 * c + 2] > 0)
        centres[c] = (Point){sums[3 * c] / sums[3 * c + 2], sums[3 * c + 1] / sums[3 * c + 2]};
    inertia = sums[3 * kCentres];
  }
  printf("kmeans: inertia %.2f a point\n", inertia / count);
  free(points);
  return 0;
}
