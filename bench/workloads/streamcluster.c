// Online clustering of a stream of points, as PARSEC's streamcluster does it: k-medians by local
// search on each block of the stream, then on the centres that the blocks left.
// Sharing: all threads go through the search together, each on its stretch of the points; several
// barriers surround
//          every candidate centre, with little work between them. Each thread sums savings in a row
//          of its own, the rows side by side.
// Policies: of costs and centres each thread's stretch is a slice. It is private while its owner
// changes it; before a barrier he keeps it for reading, and
//          behind the barrier who reads all stretches acquires them. The numbers of centres belong
//          to the first thread while it counts, else all read them. What threads sum up around each
//          candidate changes hands at every barrier, microseconds apart: it is racy, as only the
//          barriers say whose it is.
// Result:  centres and cost. Costs are integers (squared distance x 2^20), so that sums do not
//          depend on the threads.
// Sizes:   large is PARSEC's simlarge: 16384 points of 128 dimensions, 10 to 20 centres.
#include <math.h>
#include <weir/weir.h>

#include "options.h"
#include "planted.h"
#include "random.h"
#include "workload.h"

struct Setting {
  // Fewest and most: centres; kept: places for the blocks' centres.
  long points, block, dimensions, fewest, most, kept;
};
static const struct Setting kSettings[] = {
    {120, 60, 8, 2, 5, 100}, {8192, 4096, 64, 10, 20, 1000}, {16384, 16384, 128, 10, 20, 1000}};

struct Points {
  long count, dimensions;
  float* coordinates;
  int64_t* weight;
  struct weir_array *cost, *centre;  // int64_t; long, the point that is the centre of each point
  long* slot;  // of a point that is a centre: its number among them; else kNotCentre
};
enum { kNotCentre = -1 };

static struct Setting g_setting;
static long g_threads;

static int64_t* cost_of(const struct Points* p, long i) {
  return weir_array_at(p->cost, (size_t)i);
}
static long* centre_of(const struct Points* p, long i) {
  return weir_array_at(p->centre, (size_t)i);
}
static long first_of(const struct Points* p, long thread) { return p->count * thread / g_threads; }

// By the points' numbers, of the stretch that `from` is in.
struct Stretch {
  int64_t* cost;
  long* centre;
};
static struct Stretch stretch_from(const struct Points* p, long from) {
  return (struct Stretch){cost_of(p, from) - from, centre_of(p, from) - from};
}

// --- what both versions compute, where it says [from, to) within a stretch

static int64_t distance(const struct Points* p, long a, long b) {
  const float *x = p->coordinates + a * p->dimensions, *y = p->coordinates + b * p->dimensions;
  float sum = 0;
  for (long d = 0; d < p->dimensions; ++d) sum += (x[d] - y[d]) * (x[d] - y[d]);
  return (int64_t)(sum * 0x1p20f) * p->weight[a];
}

static void all_to_first(struct Points* p, long from, long to) {
  const struct Stretch own = stretch_from(p, from);
  for (long i = from; i < to; ++i) {
    own.centre[i] = 0;
    own.cost[i] = distance(p, i, 0);
  }
}

// The next point after `i` that opens: by chance, in proportion to what it pays now.
static long next_opening(const struct Points* p, long i, int64_t price, struct Random* random) {
  for (++i; i < p->count; ++i) {
    if (random_unit(random) * (double)price < (double)*cost_of(p, i)) break;
  }
  return i;
}

static void move_to_new(struct Points* p, long centre, long from, long to) {
  const struct Stretch own = stretch_from(p, from);
  for (long i = from; i < to; ++i) {
    const int64_t cost = distance(p, i, centre);
    if (cost < own.cost[i]) {
      own.cost[i] = cost;
      own.centre[i] = centre;
    }
  }
}

// What is saved, over points [from, to), if `candidate` opens; extra[slot] grows by what a centre's
// other points would pay more if it closed.
static int64_t savings(const struct Points* p, long candidate, long from, long to, int64_t* extra) {
  const struct Stretch own = stretch_from(p, from);
  int64_t saved = 0;
  for (long i = from; i < to; ++i) {
    const int64_t more = distance(p, i, candidate) - own.cost[i];
    if (more < 0) {
      saved -= more;
    } else {
      extra[p->slot[own.centre[i]]] += more;
    }
  }
  return saved;
}

static void apply(struct Points* p, long candidate, const char* closes, long from, long to) {
  const struct Stretch own = stretch_from(p, from);
  for (long i = from; i < to; ++i) {
    const int64_t cost = distance(p, i, candidate);
    if (cost < own.cost[i] || closes[p->slot[own.centre[i]]]) {
      own.cost[i] = cost;
      own.centre[i] = candidate;
    }
  }
}

static long number_centres(struct Points* p) {
  long count = 0;
  for (long i = 0; i < p->count; ++i) p->slot[i] = kNotCentre;
  for (long i = 0; i < p->count; ++i) {
    long* slot = &p->slot[*centre_of(p, i)];
    if (*slot == kNotCentre) *slot = count++;
  }
  return count;
}

// The search for the price of a centre that leaves between `fewest` and `most` of them. Both
// versions run these steps.
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

static void all_stretches_to_first(struct Points* p) {
  for (long k = 0; k < g_threads; ++k) all_to_first(p, first_of(p, k), first_of(p, k + 1));
}

static void cluster_sequential(struct Points* p, uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  int64_t* extra = malloc((size_t)p->count * sizeof *extra);
  char* closes = malloc((size_t)p->count);
  must(!extra || !closes, "malloc");
  all_stretches_to_first(p);
  struct Search search = {0, 0, 0, g_setting.fewest, g_setting.most, candidates_of(p)};
  for (long i = 0; i < p->count; ++i) search.high += *cost_of(p, i);
  search.price = search.high / 2;
  long centres;
  do {
    all_stretches_to_first(p);
    for (long i = 0; (i = next_opening(p, i, search.price, &random)) < p->count;) {
      for (long k = 0; k < g_threads; ++k) move_to_new(p, i, first_of(p, k), first_of(p, k + 1));
    }
    centres = number_centres(p);
    for (long round = 0; round < search.candidates; ++round) {
      const long candidate = (long)random_below(&random, (uint64_t)p->count);
      if (p->slot[candidate] != kNotCentre) continue;
      memset(extra, 0, (size_t)centres * sizeof *extra);
      int64_t gain = -search.price;
      for (long k = 0; k < g_threads; ++k)
        gain += savings(p, candidate, first_of(p, k), first_of(p, k + 1), extra);
      for (long c = 0; c < centres; ++c) {
        closes[c] = extra[c] < search.price;
        if (closes[c]) gain += search.price - extra[c];
      }
      if (gain <= 0) continue;
      for (long k = 0; k < g_threads; ++k)
        apply(p, candidate, closes, first_of(p, k), first_of(p, k + 1));
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
  int64_t* extra;  // for each thread a row of `centres` sums
  char* closes;
};
static struct Shared g_shared;
static struct {
  int64_t saved[kMaxThreads];  // of each thread
  int64_t gain;
} g_sums;
static struct {
  int64_t total;
  long centres;
} g_numbers;  // the first thread's, read by all
static pthread_barrier_t g_barrier;

static void meet(void) { pthread_barrier_wait(&g_barrier); }

// Of an array by stretches: the thread's own, those of all others, those of all.
static int has_points(const struct Points* p, long thread) {
  return first_of(p, thread) < first_of(p, thread + 1);
}
static void* stretch_of(const struct Points* p, const struct weir_array* array, long thread) {
  return weir_array_at(array, (size_t)first_of(p, thread));
}
static void own(const struct Points* p, const struct weir_array* array, long number) {
  if (has_points(p, number)) weir_acquire_write(stretch_of(p, array, number));
}
static void keep(const struct Points* p, const struct weir_array* array, long number) {
  if (has_points(p, number)) weir_acquire_read(stretch_of(p, array, number));
}
static void read_others(const struct Points* p, const struct weir_array* array, long number) {
  for (long thread = 0; thread < g_threads; ++thread) {
    if (thread != number && has_points(p, thread)) weir_acquire_read(stretch_of(p, array, thread));
  }
}
static void leave_others(const struct Points* p, const struct weir_array* array, long number) {
  for (long thread = 0; thread < g_threads; ++thread) {
    if (thread != number && has_points(p, thread)) weir_release_read(stretch_of(p, array, thread));
  }
}
static void read_numbers(const struct Points* p) {
  weir_acquire_read(&g_numbers);
  weir_acquire_read(p->slot);
}
static void leave_numbers(const struct Points* p) {
  weir_release_read(&g_numbers);
  weir_release_read(p->slot);
}

// Sums what the threads noted: each for a stretch of the centres, then the first thread over the
// threads.
static void weigh(const struct Shared* s, long number, int64_t price) {
  const long centres = g_numbers.centres, from = centres * number / g_threads,
             to = centres * (number + 1) / g_threads;
  for (long c = from; c < to; ++c) {
    int64_t extra = 0;
    for (long thread = 0; thread < g_threads; ++thread) extra += s->extra[thread * centres + c];
    s->closes[c] = extra < price;
    if (s->closes[c]) g_sums.saved[number] += price - extra;
  }
  meet();
  if (number == 0) {
    g_sums.gain = -price;
    for (long thread = 0; thread < g_threads; ++thread) g_sums.gain += g_sums.saved[thread];
  }
  meet();
}

// All hold the centres of their stretch for themselves, nobody holds the numbers; in the end all
// hold the numbers for reading.
static void renumber(struct Points* p, long number) {
  keep(p, p->centre, number);
  meet();
  if (number == 0) {
    read_others(p, p->centre, 0);
    weir_acquire_write(&g_numbers);
    weir_acquire_write(p->slot);
    g_numbers.centres = number_centres(p);
    weir_release_write(&g_numbers);
    weir_release_write(p->slot);
    leave_others(p, p->centre, 0);
  }
  meet();
  read_numbers(p);
  own(p, p->centre, number);
}

// All hold their stretch of the costs for reading, before and after.
static void open_centres(struct Points* p, long number, int64_t price, struct Random* random) {
  const long from = first_of(p, number), to = first_of(p, number + 1);
  for (long i = 0;;) {
    read_others(p, p->cost, number);
    i = next_opening(p, i, price, random);
    leave_others(p, p->cost, number);
    if (i == p->count) break;
    meet();  // all have read the costs
    own(p, p->cost, number);
    move_to_new(p, i, from, to);
    keep(p, p->cost, number);
    meet();
  }
}

static void* worker(void* which) {
  const struct Shared* s = &g_shared;
  weir_acquire_read(s);
  struct Points* p = s->points;
  weir_acquire_read(p->coordinates);
  weir_acquire_read(p->weight);
  const long number = (long)which, from = first_of(p, number), to = first_of(p, number + 1);
  struct Random random = random_stream(s->seed, 0);  // every thread draws the same numbers
  own(p, p->cost, number);
  own(p, p->centre, number);
  all_to_first(p, from, to);
  keep(p, p->cost, number);
  meet();
  if (number == 0) {
    read_others(p, p->cost, 0);
    weir_acquire_write(&g_numbers);
    for (long i = 0; i < p->count; ++i) g_numbers.total += *cost_of(p, i);
    weir_release_write(&g_numbers);
    leave_others(p, p->cost, 0);
  } else if (PLANTED(3) && g_numbers.total < 0) {
    return NULL;
  }
  meet();
  own(p, p->cost, number);
  read_numbers(p);
  struct Search search = {
      0, g_numbers.total, g_numbers.total / 2, g_setting.fewest, g_setting.most, candidates_of(p)};
  long centres;
  do {
    all_to_first(p, from, to);
    keep(p, p->cost, number);
    meet();
    open_centres(p, number, search.price, &random);
    leave_numbers(p);
    renumber(p, number);
    own(p, p->cost, number);
    for (long round = 0; round < search.candidates; ++round) {
      const long candidate = (long)random_below(&random, (uint64_t)p->count);
      if (p->slot[candidate] != kNotCentre) continue;
      int64_t* extra = s->extra + number * g_numbers.centres;
      memset(extra, 0, (size_t)g_numbers.centres * sizeof *extra);
      g_sums.saved[number] = savings(p, candidate, from, to, extra);
      meet();
      weigh(s, number, search.price);
      if (g_sums.gain <= 0) continue;
      if (PLANTED(4) && *cost_of(p, (from + p->count - 1) % p->count) < 0) continue;
      apply(p, candidate, s->closes, from, to);
      leave_numbers(p);
      renumber(p, number);
    }
    centres = g_numbers.centres;
  } while (narrow(&search, centres));
  leave_numbers(p);
  if (from < to) {
    weir_release_write(stretch_of(p, p->cost, number));
    weir_release_write(stretch_of(p, p->centre, number));
  }
  weir_release_read(p->coordinates);
  weir_release_read(p->weight);
  weir_release_read(s);
  return NULL;
}

// Main gives all to the threads, and takes it back.
static void give_points(const struct Points* p) {
  for (long thread = 0; thread < g_threads; ++thread) {
    if (!has_points(p, thread)) continue;
    weir_release_write(stretch_of(p, p->cost, thread));
    weir_release_write(stretch_of(p, p->centre, thread));
  }
  weir_release_write(p->slot);
  weir_release_write(p->coordinates);
  weir_release_write(p->weight);
}
static void take_points(const struct Points* p) {
  for (long thread = 0; thread < g_threads; ++thread) {
    if (!has_points(p, thread)) continue;
    weir_acquire_write(stretch_of(p, p->cost, thread));
    weir_acquire_write(stretch_of(p, p->centre, thread));
  }
  weir_acquire_write(p->slot);
  weir_acquire_write(p->coordinates);
  weir_acquire_write(p->weight);
}

static void cluster_threads(struct Points* p, uint64_t seed) {
  struct Shared* s = &g_shared;
  weir_acquire_write(s);
  weir_acquire_write(&g_numbers);
  *s = (struct Shared){.points = p, .seed = seed};
  g_numbers.total = g_numbers.centres = 0;
  s->extra = weir_alloc((size_t)(g_threads * p->count) * sizeof *s->extra, WEIR_RACY);
  s->closes = weir_alloc((size_t)p->count, WEIR_RACY);
  must(!s->extra || !s->closes, "malloc");
  weir_release_write(s);
  weir_release_write(&g_numbers);
  give_points(p);
  run_with_barrier(g_threads, worker, &g_barrier);
  take_points(p);
  pthread_barrier_destroy(&g_barrier);
  weir_acquire_read(s);
  weir_free(s->extra);
  weir_free(s->closes);
}

// --- the stream

static void allocate(struct Points* p, long count) {
  *p = (struct Points){.count = count, .dimensions = g_setting.dimensions};
  p->coordinates =
      weir_alloc((size_t)(count * p->dimensions) * sizeof *p->coordinates, WEIR_PRIVATE);
  p->weight = weir_alloc((size_t)count * sizeof *p->weight, WEIR_PRIVATE);
  p->slot = weir_alloc((size_t)count * sizeof *p->slot, WEIR_PRIVATE);
  must(!p->coordinates || !p->weight || !p->slot, "malloc");
}

// For as many points as there are now.
static void make_stretches(struct Points* p) {
  size_t ends[kMaxThreads];
  for (long thread = 0; thread < g_threads; ++thread)
    ends[thread] = (size_t)first_of(p, thread + 1);
  weir_array_free(p->cost);
  weir_array_free(p->centre);
  p->cost =
      weir_array_slice_at((size_t)p->count, sizeof(int64_t), ends, (size_t)g_threads, WEIR_PRIVATE);
  p->centre =
      weir_array_slice_at((size_t)p->count, sizeof(long), ends, (size_t)g_threads, WEIR_PRIVATE);
  must(!p->cost || !p->centre, "malloc");
}

// Points about as many hidden centres as the search may leave.
static void read_block(struct Points* p, uint64_t seed, long block) {
  struct Random random = random_stream(seed, 1 + (uint64_t)block);
  for (long i = 0; i < p->count; ++i) {
    const uint64_t centre = random_below(&random, (uint64_t)g_setting.fewest + 2);
    struct Random hidden = random_stream(seed, 1000000 + centre);
    for (long d = 0; d < p->dimensions; ++d) {
      p->coordinates[i * p->dimensions + d] =
          (float)(random_unit(&hidden) + random_between(&random, -0.2, 0.2));
    }
    p->weight[i] = 1;
  }
}

static void keep_centres(const struct Points* p, struct Points* kept) {
  int64_t* weight = calloc((size_t)p->count, sizeof *weight);
  must(!weight, "malloc");
  for (long i = 0; i < p->count; ++i) weight[*centre_of(p, i)] += p->weight[i];
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
  weir_set_sticky_read(&g_threads);
  weir_set_sticky_read(&g_setting);
  weir_set_racy(&g_sums);
  void (*cluster)(struct Points*, uint64_t) =
      options.sequential ? cluster_sequential : cluster_threads;
  struct Points block, kept;
  allocate(&block, g_setting.block);
  allocate(&kept, g_setting.kept);
  kept.count = 0;
  for (long from = 0; from < g_setting.points; from += g_setting.block) {
    read_block(&block, options.seed, from / g_setting.block);
    make_stretches(&block);
    cluster(&block, options.seed + (uint64_t)from);
    keep_centres(&block, &kept);
  }
  const long of_blocks = kept.count;
  if (g_setting.points > g_setting.block) {
    make_stretches(&kept);
    cluster(&kept, options.seed);
  }
  long centres = 0;
  int64_t cost = 0, weight = 0;
  uint64_t sum = digest(0, NULL, 0);
  const struct Points* last = g_setting.points > g_setting.block ? &kept : &block;
  for (long i = 0; i < last->count; ++i) {
    centres += *centre_of(last, i) == i;
    cost += *cost_of(last, i);
    weight += last->weight[i];
    sum = digest_on(sum, centre_of(last, i), sizeof(long));
  }
  printf("%ld points, %ld centres of blocks, %ld centres\n", (long)weight, of_blocks, centres);
  printf("cost %ld, digest %016lx\n", (long)cost, (unsigned long)sum);
  return 0;
}
