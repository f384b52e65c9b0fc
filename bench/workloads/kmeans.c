// Question: what does a run cost where threads are made and joined by the thousand, each for a
// millisecond of work?
// Pattern:  Phoenix's kmeans. Every round makes threads that put each point of their band to the
//           nearest mean, joins them, makes threads that take the new mean of each cluster of their
//           range, joins them, until no point moves. A thread tells what it moved by its exit
//           value.
// Command:  kmeans --threads N --size SIZE large: 3 dimensions, 1000 clusters, 100000 points,
//           coordinates under 1000
// Figure:   wall time of the program.
#include "input.h"

enum { kDimensions = 3, kUnder = 1000 };

struct Point {
  int at[kDimensions];
};

// Means are cut to whole numbers, so the search can go round in a circle and not end by itself.
static const struct {
  int points, clusters, most_rounds;
} kSizeOf[kSizes] = {{300, 10, 30}, {20000, 120, 400}, {100000, 1000, 1000}};

static struct Point *g_points, *g_means;
static int *g_cluster_of, *g_members;
static long g_threads, g_count, g_clusters;

static int distance(const struct Point* one, const struct Point* two) {
  int sum = 0;
  for (int d = 0; d < kDimensions; ++d)
    sum += (one->at[d] - two->at[d]) * (one->at[d] - two->at[d]);
  return sum;
}

static int nearest(const struct Point* point) {
  int best = 0, least = distance(point, &g_means[0]);
  for (int c = 1; c < g_clusters; ++c) {
    const int far = distance(point, &g_means[c]);
    if (far < least) best = c, least = far;
  }
  return best;
}

static void* assign_band(void* number) {
  long moved = 0;
  for (long i = first_of(g_count, (long)number, g_threads);
       i < first_of(g_count, (long)number + 1, g_threads); ++i) {
    const int cluster = nearest(&g_points[i]);
    moved += cluster != g_cluster_of[i];
    g_cluster_of[i] = cluster;
  }
  return (void*)moved;
}

static void* take_means(void* number) {
  const long limit = first_of(g_clusters, (long)number + 1, g_threads);
  for (long c = first_of(g_clusters, (long)number, g_threads); c < limit; ++c) {
    long sum[kDimensions] = {0}, members = 0;
    for (long i = 0; i < g_count; ++i) {
      if (g_cluster_of[i] != c) continue;
      for (int d = 0; d < kDimensions; ++d) sum[d] += g_points[i].at[d];
      ++members;
    }
    g_members[c] = (int)members;
    for (int d = 0; d < kDimensions && members; ++d) g_means[c].at[d] = (int)(sum[d] / members);
  }
  return NULL;
}

// Makes a thread for each number, joins all and returns the sum of their exit values.
static long run_round(void* (*body)(void*)) {
  pthread_t threads[kMaxThreads];
  long sum = 0;
  for (long t = 0; t < g_threads; ++t)
    must(pthread_create(&threads[t], NULL, body, (void*)t), "pthread_create");
  for (long t = 0; t < g_threads; ++t) {
    void* value;
    must(pthread_join(threads[t], &value), "pthread_join");
    sum += (long)value;
  }
  return sum;
}

static long sequential_round(void) {
  static long(*sums)[kDimensions];
  if (!sums) must(!(sums = malloc((size_t)g_clusters * sizeof *sums)), "malloc");
  memset(sums, 0, (size_t)g_clusters * sizeof *sums);
  memset(g_members, 0, (size_t)g_clusters * sizeof *g_members);
  long moved = 0;
  for (long i = 0; i < g_count; ++i) {
    const int cluster = nearest(&g_points[i]);
    moved += cluster != g_cluster_of[i];
    g_cluster_of[i] = cluster;
    ++g_members[cluster];
    for (int d = 0; d < kDimensions; ++d) sums[cluster][d] += g_points[i].at[d];
  }
  for (long c = 0; c < g_clusters; ++c)
    for (int d = 0; d < kDimensions && g_members[c]; ++d)
      g_means[c].at[d] = (int)(sums[c][d] / g_members[c]);
  return moved;
}

static struct Point* random_points(long count, uint64_t* seed) {
  struct Point* points = malloc((size_t)count * sizeof *points);
  must(!points, "malloc");
  for (long i = 0; i < count; ++i)
    for (int d = 0; d < kDimensions; ++d) points[i].at[d] = (int)(next_random(seed) % kUnder);
  return points;
}

int main(int argc, char** argv) {
  struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_count = kSizeOf[options.size].points, g_clusters = kSizeOf[options.size].clusters;
  g_points = random_points(g_count, &options.seed),
  g_means = random_points(g_clusters, &options.seed);
  g_cluster_of = malloc((size_t)g_count * sizeof *g_cluster_of);
  g_members = calloc((size_t)g_clusters, sizeof *g_members);
  must(!g_cluster_of || !g_members, "malloc");
  memset(g_cluster_of, -1, (size_t)g_count * sizeof *g_cluster_of);

  long rounds = 0, moved = 1;
  while (moved && rounds < kSizeOf[options.size].most_rounds) {
    if (options.sequential) {
      moved = sequential_round();
    } else {
      moved = run_round(assign_band);
      run_round(take_means);
    }
    ++rounds;
  }
  printf("rounds %ld, moved in the last %ld, members %016lx, means %016lx\n", rounds, moved,
         hash_bytes(kHashStart, g_members, (size_t)g_clusters * sizeof *g_members),
         hash_bytes(kHashStart, g_means, (size_t)g_clusters * sizeof *g_means));
  return 0;
}
