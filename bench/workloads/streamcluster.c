// Online clustering of a stream of points, as PARSEC's streamcluster does it: k-medians by local search on each block
// of the stream, then on the centres that the blocks left.
// Sharing: all threads go through the search together, each on its stretch of the points; several barriers surround
//          every candidate centre, with little work between them. Each thread sums savings in a row of its own, the
//          rows side by side.
// Result:  centres and cost. Costs are integers (squared distance x 2^20), so that sums do not depend on the threads.
// Sizes:   large is PARSEC's simlarge: 16384 points of 128 dimensions, 10 to 20 centres.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Setting {
  long points, block, dimensions, fewest, most, kept;  // fewest and most: centres; kept: places for the blocks' centres
};
static const struct Setting kSettings[] = {
    {120, 60, 8, 2, 5, 100}, {8192, 4096, 64, 10, 20, 1000}, {16384, 16384, 128, 10, 20, 1000}};

struct Points {
  long count, dimensions;
  float* coordinates;
  int64_t *weight, *cost;
  long* centre;  // the point that is the centre of each point
  long* slot;    // of a point that is a centre: its number among them; else kNotCentre
};
enum { kNotCentre = -1 };

static struct Setting g_setting;
static long g_threads;

// --- what both versions compute

static int64_t distance(const struct Points* p, long a, long b) {
  const float *x = p->coordinates + a * p->dimensions, *y = p->coordinates + b * p->dimensions;
  float sum = 0;
  for (long d = 0; d < p->dimensions; ++d) sum += (x[d] - y[d]) * (x[d] - y[d]);
  return (int64_t)(sum * 0x1p20f) * p->weight[a];
}

static void all_to_first(struct Points* p, long from, long to) {
  for (long i = from; i < to; ++i) {
    p->centre[i] = 0;
    p->cost[i] = distance(p, i, 0);
  }
}

// The next point after `i` that opens: by chance, in proportion to what it pays now.
static long next_opening(const struct Points* p, long i, int64_t price, struct Random* random) {
  for (++i; i < p->count; ++i) {
    if (random_unit(random) * (double)price < (double)p->cost[i]) break;
  }
  return i;
}

static void move_to_new(struct Points* p, long centre, long from, long to) {
  for (long i = from; i < to; ++i) {
    const int64_t cost = distance(p, i, centre);
    if (cost < p->cost[i]) {
      p->cost[i] = cost;
      p->centre[i] = centre;
    }
  }
}

// What is saved, over points [from, to), if `candidate` opens; extra[slot] grows by what a centre's other points would
// pay more if it closed.
static int64_t savings(const struct Points* p, long candidate, long from, long to, int64_t* extra) {
  int64_t saved = 0;
  for (long i = from; i < to; ++i) {
    const int64_t more = distance(p, i, candidate) - p->cost[i];
    if (more < 0) {
      saved -= more;
    } else {
      extra[p->slot[p->centre[i]]] += more;
    }
  }
  return saved;
}

static void apply(struct Points* p, long candidate, const char* closes, long from, long to) {
  for (long i = from; i < to; ++i) {
    const int64_t cost = distance(p, i, candidate);
    if (cost < p->cost[i] || closes[p->slot[p->centre[i]]]) {
      p->cost[i] = cost;
      p->centre[i] = candidate;
    }
  }
}

static long number_centres(struct Points* p) {
  long count = 0;
  for (long i = 0; i < p->count; ++i) p->slot[i] = kNotCentre;
  for (long i = 0; i < p->count; ++i) {
    if (p->slot[p->centre[i]] == kNotCentre) p->slot[p->centre[i]] = count++;
  }
  return count;
}

// The search for the price of a centre that leaves between `fewest` and `most` of them. Both versions run these steps.
struct Search {
  int64_t low, high, price;
  long fewest, most, candidates;
};

static long candidates_of(const struct Points* p) {
  const long wanted = (long)(3 * (double)g_setting.most * log(2.0 * (double)g_setting.most));
  return wanted < p->count ? wanted : p->count;
}

static int narrow(struct Search* search, long centres) {
  if (centres >= search->fewest && centres <= search->most) return 0;
  if (centres > search->most) search->low = search->price;
  if (centres < search->fewest) search->high = search->price;
  search->price = (search->low + search->high) / 2;
  return search->high - search->low > search->high / 1000;
}

// --- sequential

static void cluster_sequential(struct Points* p, uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  int64_t* extra = malloc((size_t)p->count * sizeof *extra);
  char* closes = malloc((size_t)p->count);
  must(!extra || !closes, "malloc");
  all_to_first(p, 0, p->count);
  struct Search search = {0, 0, 0, g_setting.fewest, g_setting.most, candidates_of(p)};
  for (long i = 0; i < p->count; ++i) search.high += p->cost[i];
  search.price = search.high / 2;
  long centres;
  do {
    all_to_first(p, 0, p->count);
    for (long i = 0; (i = next_opening(p, i, search.price, &random)) < p->count;) move_to_new(p, i, 0, p->count);
    centres = number_centres(p);
    for (long round = 0; round < search.candidates; ++round) {
      const long candidate = (long)random_below(&random, (uint64_t)p->count);
      if (p->slot[candidate] != kNotCentre) continue;
      memset(extra, 0, (size_t)centres * sizeof *extra);
      int64_t gain = savings(p, candidate, 0, p->count, extra) - search.price;
      for (long c = 0; c < centres; ++c) {
        closes[c] = extra[c] < search.price;
        if (closes[c]) gain += search.price - extra[c];
      }
      if (gain <= 0) continue;
      apply(p, candidate, closes, 0, p->count);
      centres = number_centres(p);
    }
  } while (narrow(&search, centres));
  free(extra);
  free(closes);
}

// --- threads

struct Shared {
  struct Points* points;
  uint64_t seed;
  pthread_barrier_t barrier;
  int64_t* extra;               // for each thread a row of `centres` sums
  int64_t saved[kMostThreads];  // of each thread
  char* closes;
  int64_t total, gain;
  long centres;
};
static struct Shared g_shared;

static void meet(struct Shared* s) { pthread_barrier_wait(&s->barrier); }

// Sums what the threads noted: each for a stretch of the centres, then the first thread over the threads.
static void weigh(struct Shared* s, long number, int64_t price) {
  const long from = s->centres * number / g_threads, to = s->centres * (number + 1) / g_threads;
  for (long c = from; c < to; ++c) {
    int64_t extra = 0;
    for (long thread = 0; thread < g_threads; ++thread) extra += s->extra[thread * s->centres + c];
    s->closes[c] = extra < price;
    if (s->closes[c]) s->saved[number] += price - extra;
  }
  meet(s);
  if (number == 0) {
    s->gain = -price;
    for (long thread = 0; thread < g_threads; ++thread) s->gain += s->saved[thread];
  }
  meet(s);
}

static void renumber(struct Shared* s, long number) {
  meet(s);
  if (number == 0) s->centres = number_centres(s->points);
  meet(s);
}

static void* worker(void* which) {
  struct Shared* s = &g_shared;
  struct Points* p = s->points;
  const long number = (long)which, from = p->count * number / g_threads, to = p->count * (number + 1) / g_threads;
  struct Random random = random_stream(s->seed, 0);  // every thread draws the same numbers
  all_to_first(p, from, to);
  meet(s);
  if (number == 0) {
    for (long i = 0; i < p->count; ++i) s->total += p->cost[i];
  }
  meet(s);
  struct Search search = {0, s->total, s->total / 2, g_setting.fewest, g_setting.most, candidates_of(p)};
  do {
    all_to_first(p, from, to);
    meet(s);
    for (long i = 0; (i = next_opening(p, i, search.price, &random)) < p->count;) {
      meet(s);  // all have read the costs
      move_to_new(p, i, from, to);
      meet(s);
    }
    renumber(s, number);
    for (long round = 0; round < search.candidates; ++round) {
      const long candidate = (long)random_below(&random, (uint64_t)p->count);
      if (p->slot[candidate] != kNotCentre) continue;
      int64_t* extra = s->extra + number * s->centres;
      memset(extra, 0, (size_t)s->centres * sizeof *extra);
      s->saved[number] = savings(p, candidate, from, to, extra);
      meet(s);
      weigh(s, number, search.price);
      if (s->gain <= 0) continue;
      apply(p, candidate, s->closes, from, to);
      renumber(s, number);
    }
  } while (narrow(&search, s->centres));
  return NULL;
}

static void cluster_threads(struct Points* p, uint64_t seed) {
  struct Shared* s = &g_shared;
  *s = (struct Shared){.points = p, .seed = seed};
  s->extra = malloc((size_t)(g_threads * p->count) * sizeof *s->extra);
  s->closes = malloc((size_t)p->count);
  must(!s->extra || !s->closes, "malloc");
  run_with_barrier(g_threads, worker, &s->barrier);
  pthread_barrier_destroy(&s->barrier);
  free(s->extra);
  free(s->closes);
}

// --- the stream

static void allocate(struct Points* p, long count) {
  *p = (struct Points){.count = count, .dimensions = g_setting.dimensions};
  p->coordinates = malloc((size_t)(count * p->dimensions) * sizeof *p->coordinates);
  p->weight = malloc((size_t)count * sizeof *p->weight);
  p->cost = malloc((size_t)count * sizeof *p->cost);
  p->centre = malloc((size_t)count * sizeof *p->centre);
  p->slot = malloc((size_t)count * sizeof *p->slot);
  must(!p->coordinates || !p->weight || !p->cost || !p->centre || !p->slot, "malloc");
}

// Points about as many hidden centres as the search may leave.
static void read_block(struct Points* p, uint64_t seed, long block) {
  struct Random random = random_stream(seed, 1 + (uint64_t)block);
  for (long i = 0; i < p->count; ++i) {
    const uint64_t centre = random_below(&random, (uint64_t)g_setting.fewest + 2);
    struct Random hidden = random_stream(seed, 1000000 + centre);
    for (long d = 0; d < p->dimensions; ++d) {
      p->coordinates[i * p->dimensions + d] = (float)(random_unit(&hidden) + random_between(&random, -0.2, 0.2));
    }
    p->weight[i] = 1;
  }
}

static void keep_centres(const struct Points* p, struct Points* kept) {
  int64_t* weight = calloc((size_t)p->count, sizeof *weight);
  must(!weight, "malloc");
  for (long i = 0; i < p->count; ++i) weight[p->centre[i]] += p->weight[i];
  for (long i = 0; i < p->count; ++i) {
    if (!weight[i]) continue;
    must(kept->count == g_setting.kept, "place for the centres of all blocks");
    memcpy(kept->coordinates + kept->count * p->dimensions, p->coordinates + i * p->dimensions,
           (size_t)p->dimensions * sizeof *p->coordinates);
    kept->weight[kept->count++] = weight[i];
  }
  free(weight);
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_setting = kSettings[options.size];
  void (*cluster)(struct Points*, uint64_t) = options.sequential ? cluster_sequential : cluster_threads;
  struct Points block, kept;
  allocate(&block, g_setting.block);
  allocate(&kept, g_setting.kept);
  kept.count = 0;
  for (long from = 0; from < g_setting.points; from += g_setting.block) {
    read_block(&block, options.seed, from / g_setting.block);
    cluster(&block, options.seed + (uint64_t)from);
    keep_centres(&block, &kept);
  }
  const long of_blocks = kept.count;
  if (g_setting.points > g_setting.block) cluster(&kept, options.seed);
  long centres = 0;
  int64_t cost = 0, weight = 0;
  const struct Points* last = g_setting.points > g_setting.block ? &kept : &block;
  for (long i = 0; i < last->count; ++i) {
    centres += last->centre[i] == i;
    cost += last->cost[i];
    weight += last->weight[i];
  }
  printf("%ld points, %ld centres of blocks, %ld centres\n", (long)weight, of_blocks, centres);
  printf("cost %ld, digest %016lx\n", (long)cost,
         (unsigned long)digest(0, last->centre, (size_t)last->count * sizeof *last->centre));
  return 0;
}
