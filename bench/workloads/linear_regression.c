// Question: what does isolation gain where threads write to one cache line all the time?
// Pattern:  Phoenix's linear_regression: false sharing. Each thread adds up its band of the points
//           in its record, and the records, less than a cache line each, lie side by side in one
//           array. The points are read as bytes, which may be part of anything, so the compiler
//           must store the sums in every round of the loop. Natively the line goes from processor
//           to processor; under View isolated each thread has the page to itself until it ends.
// Command:  linear_regression --threads N --input PATH (generate points)
// Figure:   wall time of the program.
#include "input.h"

struct Band {
  const unsigned char* points;  // x and y, a byte each
  long count;
  long x, y, xx, yy, xy;  // the sums
};

static struct Band* g_bands;

static void* add_band(void* number) {
  struct Band* band = &g_bands[(long)number];
  for (long i = 0; i < band->count; ++i) {
    band->x += band->points[2 * i];
    band->xx += band->points[2 * i] * band->points[2 * i];
    band->y += band->points[2 * i + 1];
    band->yy += band->points[2 * i + 1] * band->points[2 * i + 1];
    band->xy += band->points[2 * i] * band->points[2 * i + 1];
  }
  return NULL;
}

static struct Band add_all(const unsigned char* points, long count) {
  long x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const unsigned char* point = points; point != points + 2 * count; point += 2) {
    x += point[0], xx += point[0] * point[0];
    y += point[1], yy += point[1] * point[1];
    xy += point[0] * point[1];
  }
  return (struct Band){points, count, x, y, xx, yy, xy};
}

static void print(const struct Band* all) {
  const double n = (double)all->count, x = (double)all->x, y = (double)all->y;
  const double slope = (n * (double)all->xy - x * y) / (n * (double)all->xx - x * x);
  printf("points %ld, x %ld, y %ld, xx %ld, yy %ld, xy %ld\n", all->count, all->x, all->y, all->xx,
         all->yy, all->xy);
  printf("y = %.6f x + %.6f\n", slope, (y - slope * x) / n);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  const struct File file = map_file(options.input);
  const unsigned char* points = (const unsigned char*)file.bytes;
  const long count = (long)file.size / 2;

  struct Band all = {.count = count};
  if (options.sequential) {
    all = add_all(points, count);
  } else {
    g_bands = calloc((size_t)options.threads, sizeof *g_bands);
    must(!g_bands, "calloc");
    for (long t = 0; t < options.threads; ++t) {
      const long first = first_of(count, t, options.threads);
      g_bands[t].points = points + 2 * first;
      g_bands[t].count = first_of(count, t + 1, options.threads) - first;
    }
    run_threads(options.threads, add_band);
    for (long t = 0; t < options.threads; ++t) {
      all.x += g_bands[t].x, all.xx += g_bands[t].xx;
      all.y += g_bands[t].y, all.yy += g_bands[t].yy;
      all.xy += g_bands[t].xy;
    }
  }
  print(&all);
  return 0;
}
