// Molecular dynamics of water by all pairs of molecules, as SPLASH-2's water-nsquared does it;
// physics: water.h. Sharing: each thread owns a run of molecules, moves them, and computes their
// pairs with the half of all molecules
//          that follows. It adds the forces up in an array of its own, then adds that to the shared
//          molecules, one by one, under a lock of each molecule, so that every molecule is written
//          by about half of the threads and read by all. Energies are added up under one lock, in
//          each phase. Barriers divide the phases.
// Result:  a digest of all molecules and sums. Forces and energies are integers (fixed point),
//          whose addition is associative, so it does not show who added first. Checked: energy and
//          momentum stay.
// Sizes:   large has the papers' 512 molecules, and 200 steps.
#include "water.h"

static const struct Setting kSettings[kSizes] = {{4, 10}, {7, 160}, {8, 200}};

static struct Water g_water;
static pthread_mutex_t* g_locks;  // of each molecule
static pthread_mutex_t g_sum_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t g_barrier;
static long g_threads;

typedef int64_t Force[kAtoms][3];

// Each pair once. Of an even number, the molecules in the first half take the opposite one, those
// in the second do not.
static void push_followers(long m, Force* forces, struct Sums* sums) {
  const long count = g_water.count;
  const long followers = count % 2 || m < count / 2 ? count / 2 : count / 2 - 1;
  for (long k = 1; k <= followers; ++k) {
    const long other = (m + k) % count;
    push_pair(&g_water, &g_water.molecules[m], &g_water.molecules[other], forces[m], forces[other],
              sums);
  }
}

static void add_shared(long m, const Force* forces) {
  static const Force kNone;
  if (memcmp(forces[m], kNone, sizeof kNone) == 0) return;
  pthread_mutex_lock(&g_locks[m]);
  add_forces(&g_water.molecules[m], forces[m]);
  pthread_mutex_unlock(&g_locks[m]);
}

static void add_shared_sums(int step, const struct Sums* sums) {
  pthread_mutex_lock(&g_sum_lock);
  add_sums(&g_water.sums[step], sums);
  pthread_mutex_unlock(&g_sum_lock);
}

static void* work(void* which) {
  const long number = (long)which, count = g_water.count;
  const long from = count * number / g_threads, to = count * (number + 1) / g_threads;
  Force* forces = malloc((size_t)count * sizeof *forces);
  must(!forces, "malloc");
  for (int step = 0; step <= g_water.steps; ++step) {
    struct Sums inside = {0}, between = {0}, moved = {0};
    for (long m = from; m < to; ++m) {
      if (step > 0) predict(&g_water, &g_water.molecules[m]);
      pull_inside(&g_water.molecules[m], &inside);
    }
    add_shared_sums(step, &inside);
    pthread_barrier_wait(&g_barrier);

    memset(forces, 0, (size_t)count * sizeof *forces);
    for (long m = from; m < to; ++m) push_followers(m, forces, &between);
    for (long k = 0; k < count; ++k) add_shared((from + k) % count, forces);
    add_shared_sums(step, &between);
    pthread_barrier_wait(&g_barrier);

    for (long m = from; m < to; ++m) correct(&g_water.molecules[m], step, &moved);
    add_shared_sums(step, &moved);
    pthread_barrier_wait(&g_barrier);
  }
  free(forces);
  return NULL;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  make_water(&g_water, &kSettings[options.size], 0, options.seed);
  if (options.sequential) {
    run_sequential(&g_water);
  } else {
    g_locks = malloc((size_t)g_water.count * sizeof *g_locks);
    must(!g_locks, "malloc");
    for (long m = 0; m < g_water.count; ++m)
      must(pthread_mutex_init(&g_locks[m], NULL), "pthread_mutex_init");
    run_with_barrier(g_threads, work, &g_barrier);
  }
  return print_water(&g_water);
}
