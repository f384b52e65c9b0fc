/* k-means: points in the plane go to the nearest of eight centres, and each centre to the mean of
 * its points. Points are shared and read-only; sums are a reduction. usage: kmeans [POINTS] */
#include <stdio.h>
#include <stdlib.h>
#include <weir/dsm.h>

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
  weir_dsm_start(&argc, &argv);
  const long count = argc > 1 ? atol(argv[1]) : 20000;
  const unsigned node = weir_dsm_node(), nodes = weir_dsm_nodes();
  const long from = node * count / nodes, to = (node + 1) * count / nodes;
  Point* points = node == 0 ? weir_dsm_alloc(count * sizeof *points) : NULL;
  weir_dsm_share(&points, sizeof points, 0);
  for (long i = from; i < to; i++) points[i] = (Point){i * 7919 % 1000, i * i % 997};
  weir_dsm_barrier(0);
  Point centres[kCentres];
  for (int c = 0; c < kCentres; c++) centres[c] = points[c * (count / kCentres)];
  double inertia = 0;
  for (int round = 0; round < kRounds; round++) {
    double sums[3 * kCentres + 1] = {0}, distance = 0;
    for (long i = from; i < to; i++) {
      double* sum = sums + 3 * nearest(centres, points[i], &distance);
      sum[0] += points[i].x;
      sum[1] += points[i].y;
      sum[2]++;
      sums[3 * kCentres] += distance;
    }
    weir_dsm_reduce_double(sums, 3 * kCentres + 1, WEIR_DSM_SUM);
    for (int c = 0; c < kCentres; c++)
      if (sums[3 * c + 2] > 0)
        centres[c] = (Point){sums[3 * c] / sums[3 * c + 2], sums[3 * c + 1] / sums[3 * c + 2]};
    inertia = sums[3 * kCentres];
  }
  if (node == 0) printf("kmeans: inertia %.2f a point\n", inertia / count);
  weir_dsm_finish();
  return 0;
}
