// Placement of a netlist by simulated annealing, as PARSEC's canneal does it: places of elements
// are swapped at random. Sharing: no locks. An element's place is an atomic pointer. A swap takes
// both places out by exchange (NULL: in
//          somebody's hand; the lower element first, so nobody waits in a circle) and puts them
//          back by plain stores; who finds NULL spins. The gain is computed from places that others
//          change meanwhile, so it may be wrong, and that does not matter.
// Result:  depends on how threads interleave, so invariants are printed: the placement is still a
//          permutation, the cost fell as far as it must, and with one thread it fell by the sum of
//          the gains.
// Sizes:   large is PARSEC's simlarge, on a generated netlist of 400000 elements.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Place {
  int x, y;
};

struct Element {
  struct Place* place;  // atomic while threads run
  struct Element** wires;
  int wire_count, wire_room;
};

static const long kElements[] = {1000, 100000, 400000}, kTemperatures[] = {8, 100, 128},
                  kSwaps[] = {1000, 15000, 15000};
static const double kMaxOfCost[] = {0.9, 0.75, 0.8};  // of the cost at the start
static struct Element* g_elements;
static struct Place* g_places;
static long g_count, g_temperatures, g_swaps, g_threads;
static uint64_t g_seed;
static pthread_barrier_t g_barrier;
static int64_t g_saved;  // by one thread alone

static void connect(struct Element* from, struct Element* to) {
  if (from->wire_count == from->wire_room) {
    from->wire_room = from->wire_room ? 2 * from->wire_room : 4;
    from->wires = realloc(from->wires, (size_t)from->wire_room * sizeof *from->wires);
    must(!from->wires, "realloc");
  }
  from->wires[from->wire_count++] = to;
}

// Each element drives one to four others that are near in a hidden order, so that good placements
// exist.
static void make_netlist(void) {
  struct Random random = random_stream(g_seed, 0);
  const long width = (long)ceil(sqrt((double)g_count));
  g_elements = calloc((size_t)g_count, sizeof *g_elements);
  g_places = malloc((size_t)g_count * sizeof *g_places);
  must(!g_elements || !g_places, "malloc");
  for (long i = 0; i < g_count; ++i) {
    g_places[i] = (struct Place){(int)(i % width), (int)(i / width)};
    g_elements[i].place = &g_places[i];
    for (uint64_t wires = 1 + random_below(&random, 4); wires > 0; --wires) {
      const long near =
          (i + 1 + (long)random_below(&random, 16) + width * (long)random_below(&random, 4)) %
          g_count;
      connect(&g_elements[i], &g_elements[near]);
      connect(&g_elements[near], &g_elements[i]);
    }
  }
  for (long i = g_count - 1; i > 0; --i) {
    const long j = (long)random_below(&random, (uint64_t)i + 1);
    struct Place* place = g_elements[i].place;
    g_elements[i].place = g_elements[j].place;
    g_elements[j].place = place;
  }
}

static int64_t length(const struct Place* a, const struct Place* b) {
  return labs(a->x - b->x) + labs(a->y - b->y);
}

static int64_t whole_cost(void) {
  int64_t cost = 0;
  for (long i = 0; i < g_count; ++i) {
    const struct Element* e = &g_elements[i];
    for (int wire = 0; wire < e->wire_count; ++wire)
      cost += length(e->place, e->wires[wire]->place);
  }
  return cost / 2;
}

static struct Place* look(struct Element* e) {
  struct Place* place;
  do place = __atomic_load_n(&e->place, __ATOMIC_ACQUIRE);
  while (!place);
  return place;
}

static struct Place* take(struct Element* e) {
  struct Place* place;
  do place = __atomic_exchange_n(&e->place, NULL, __ATOMIC_ACQUIRE);
  while (!place);
  return place;
}

// What the wires of `e` gain or lose if it moves to `there`, the place of `other`, and `other` to
// `here`.
static int64_t delta_of(struct Element* e, struct Element* other, const struct Place* here,
                        const struct Place* there) {
  int64_t delta = 0;
  for (int wire = 0; wire < e->wire_count; ++wire) {
    struct Element* end = e->wires[wire];
    if (end == e || end == other) continue;  // such a wire keeps its length
    const struct Place* place = look(end);
    delta += length(place, there) - length(place, here);
  }
  return delta;
}

static int accepted(int64_t delta, double temperature, struct Random* random) {
  return delta < 0 || random_unit(random) < exp(-(double)delta / temperature);
}

static void choose(struct Random* random, struct Element** low, struct Element** high) {
  const long i = (long)random_below(random, (uint64_t)g_count),
             j = (long)random_below(random, (uint64_t)g_count - 1);
  const long other = j + (j >= i);
  *low = &g_elements[i < other ? i : other];
  *high = &g_elements[i < other ? other : i];
}

static void* worker(void* number) {
  struct Random random = random_stream(g_seed, 1 + (uint64_t)number);
  const long swaps = g_swaps / g_threads;
  double temperature = 200;
  int64_t saved = 0;
  for (long step = 0; step < g_temperatures; ++step) {
    for (long i = 0; i < swaps; ++i) {
      struct Element *a, *b;
      choose(&random, &a, &b);
      const struct Place *here = look(a), *there = look(b);
      const int64_t delta = delta_of(a, b, here, there) + delta_of(b, a, there, here);
      if (!accepted(delta, temperature, &random)) continue;
      struct Place *of_a = take(a), *of_b = take(b);
      __atomic_store_n(&a->place, of_b, __ATOMIC_RELEASE);
      __atomic_store_n(&b->place, of_a, __ATOMIC_RELEASE);
      saved -= delta;
    }
    temperature /= 1.5;
    pthread_barrier_wait(&g_barrier);
  }
  if (g_threads == 1) g_saved = saved;
  return NULL;
}

static void sequential(void) {
  struct Random random = random_stream(g_seed, 1);
  double temperature = 200;
  for (long step = 0; step < g_temperatures; ++step) {
    for (long i = 0; i < g_swaps; ++i) {
      struct Element *a, *b;
      choose(&random, &a, &b);
      const int64_t delta = delta_of(a, b, a->place, b->place) + delta_of(b, a, b->place, a->place);
      if (!accepted(delta, temperature, &random)) continue;
      struct Place* place = a->place;
      a->place = b->place;
      b->place = place;
      g_saved -= delta;
    }
    temperature /= 1.5;
  }
}

static int is_permutation(void) {
  char* seen = calloc((size_t)g_count, 1);
  must(!seen, "malloc");
  for (long i = 0; i < g_count; ++i) {
    const long place = g_elements[i].place ? g_elements[i].place - g_places : -1;
    if (place < 0 || place >= g_count || seen[place]) return 0;
    seen[place] = 1;
  }
  free(seen);
  return 1;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_seed = options.seed;
  g_count = kElements[options.size];
  g_temperatures = kTemperatures[options.size];
  g_swaps = kSwaps[options.size];
  make_netlist();
  const int64_t before = whole_cost();
  if (options.sequential) {
    sequential();
  } else {
    run_with_barrier(g_threads, worker, &g_barrier);
  }
  const int permutation = is_permutation();
  const int64_t after = permutation ? whole_cost() : before;
  const double ratio = (double)after / (double)before;
  const int tracked = (!options.sequential && g_threads > 1) || before - g_saved == after;
  const int low = ratio < kMaxOfCost[options.size];
  printf("%ld elements, wires at the start %ld\n", g_count, (long)before);
  printf("still a permutation: %s, deltas add up: %s, below %.2f of the start: %s\n",
         permutation ? "yes" : "no", tracked ? "yes" : "no", kMaxOfCost[options.size],
         low ? "yes" : "no");
  return !(permutation && tracked && low);
}
