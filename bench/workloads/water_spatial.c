// Molecular dynamics of water with a cut-off, by boxes, as SPLASH-2's water-spatial does it;
// physics: water.h. Sharing: space is divided into boxes no smaller than the cut-off, each with a
// list of its molecules and a lock. Each
//          thread owns a run of boxes and computes with whatever molecules are in them, wherever in
//          memory they lie. A molecule that leaves its box is unlinked and put into the list of the
//          next, each under that box's lock: so molecules go from thread to thread, and neighbours
//          in memory belong to different threads after a while. Pairs of two boxes are computed by
//          the owner of one, and the forces added in the other under its lock. Energies are added
//          up under one lock. Barriers divide the phases.
// Result:  a digest of all molecules and sums. Forces and energies are integers (fixed point),
//          whose addition is associative, so it does not show who added first, nor in which order
//          lists are. Checked: energy and momentum stay. The sequential version knows no boxes: it
//          tries all pairs.
// Sizes:   large has 4096 molecules and 120 steps.
#include "water.h"

static const struct Setting kSettings[kSizes] = {{6, 10}, {10, 160}, {16, 120}};
static const double kReach = 6.2;

typedef int64_t Force[kAtoms][3];

struct Box {
  pthread_mutex_t lock;
  // Guarded by: lock, while molecules move; nobody changes lists otherwise.
  struct Molecule* molecules;
};

// The molecules of a box, and what a thread adds to their forces.
struct Part {
  struct Molecule** molecules;
  Force* forces;
  long count, room;
};

static struct Water g_water;
static struct Box* g_boxes;
static long g_side, g_box_count, g_threads;  // g_side: boxes along each side
static pthread_mutex_t g_sum_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t g_barrier;

// --- boxes

static long box_at(long x, long y, long z) {
  return ((x + g_side) % g_side * g_side + (y + g_side) % g_side) * g_side + (z + g_side) % g_side;
}

// Neighbour number 0 to 26 of a box, 13 the box itself.
static long neighbour(long box, int which) {
  const long x = box / g_side / g_side, y = box / g_side % g_side, z = box % g_side;
  return box_at(x + which / 9 - 1, y + which / 3 % 3 - 1, z + which % 3 - 1);
}

static long box_of(const struct Molecule* molecule) {
  long place[3];
  for (int d = 0; d < 3; ++d) {
    place[d] = (long)(molecule->at[0][kOxygen][d] / g_water.box * (double)g_side);
    if (place[d] >= g_side) place[d] = g_side - 1;
  }
  return box_at(place[0], place[1], place[2]);
}

static void put(struct Molecule* molecule) {
  struct Box* box = &g_boxes[box_of(molecule)];
  pthread_mutex_lock(&box->lock);
  molecule->next = box->molecules;
  box->molecules = molecule;
  pthread_mutex_unlock(&box->lock);
}

static void make_boxes(void) {
  g_side = (long)(g_water.box / kReach);
  must(g_side < 3, "fewer than three boxes along a side: dividing space");
  g_box_count = g_side * g_side * g_side;
  g_boxes = calloc((size_t)g_box_count, sizeof *g_boxes);
  must(!g_boxes, "malloc");
  for (long b = 0; b < g_box_count; ++b)
    must(pthread_mutex_init(&g_boxes[b].lock, NULL), "pthread_mutex_init");
  for (long m = 0; m < g_water.count; ++m) put(&g_water.molecules[m]);
}

// --- phases of one thread

// Others may put molecules into the box meanwhile; those are where they belong.
static void send_away(long number) {
  struct Box* box = &g_boxes[number];
  struct Molecule* leaving = NULL;
  pthread_mutex_lock(&box->lock);
  for (struct Molecule** link = &box->molecules; *link;) {
    struct Molecule* molecule = *link;
    if (box_of(molecule) == number) {
      link = &molecule->next;
    } else {
      *link = molecule->next;
      molecule->next = leaving;
      leaving = molecule;
    }
  }
  pthread_mutex_unlock(&box->lock);
  while (leaving) {
    struct Molecule* molecule = leaving;
    leaving = molecule->next;
    put(molecule);
  }
}

static void take_part(struct Part* part, const struct Box* box) {
  part->count = 0;
  for (struct Molecule* molecule = box->molecules; molecule; molecule = molecule->next) {
    if (part->count == part->room) {
      part->room = part->room ? 2 * part->room : 16;
      part->molecules = realloc(part->molecules, (size_t)part->room * sizeof *part->molecules);
      part->forces = realloc(part->forces, (size_t)part->room * sizeof *part->forces);
      must(!part->molecules || !part->forces, "realloc");
    }
    part->molecules[part->count++] = molecule;
  }
  if (part->count > 0) memset(part->forces, 0, (size_t)part->count * sizeof *part->forces);
}

static void add_part(const struct Part* part, struct Box* box) {
  pthread_mutex_lock(&box->lock);
  for (long i = 0; i < part->count; ++i) add_forces(part->molecules[i], part->forces[i]);
  pthread_mutex_unlock(&box->lock);
}

static void free_part(struct Part* part) {
  free(part->molecules);
  free(part->forces);
}

// The pairs inside a box, and those with the half of its neighbours that come before it.
static void push_box(long number, struct Part* own, struct Part* other, struct Sums* sums) {
  take_part(own, &g_boxes[number]);
  for (long i = 0; i < own->count; ++i) {
    for (long j = 0; j < i; ++j) {
      push_pair(&g_water, own->molecules[i], own->molecules[j], own->forces[i], own->forces[j],
                sums);
    }
  }
  for (int which = 0; which < 13; ++which) {
    struct Box* box = &g_boxes[neighbour(number, which)];
    int touched = 0;
    take_part(other, box);
    for (long i = 0; i < own->count; ++i) {
      for (long j = 0; j < other->count; ++j) {
        touched |= push_pair(&g_water, own->molecules[i], other->molecules[j], own->forces[i],
                             other->forces[j], sums);
      }
    }
    if (touched) add_part(other, box);
  }
  add_part(own, &g_boxes[number]);
}

static void add_shared_sums(int step, const struct Sums* sums) {
  pthread_mutex_lock(&g_sum_lock);
  add_sums(&g_water.sums[step], sums);
  pthread_mutex_unlock(&g_sum_lock);
}

static void* work(void* which) {
  const long number = (long)which;
  const long from = g_box_count * number / g_threads, to = g_box_count * (number + 1) / g_threads;
  struct Part own = {0}, other = {0};
  for (int step = 0; step <= g_water.steps; ++step) {
    struct Sums inside = {0}, between = {0}, moved = {0};
    for (long b = from; b < to; ++b) {
      for (struct Molecule* molecule = g_boxes[b].molecules; molecule; molecule = molecule->next) {
        if (step > 0) predict(&g_water, molecule);
        pull_inside(molecule, &inside);
      }
    }
    add_shared_sums(step, &inside);
    pthread_barrier_wait(&g_barrier);
    for (long b = from; b < to; ++b) send_away(b);
    pthread_barrier_wait(&g_barrier);
    for (long b = from; b < to; ++b) push_box(b, &own, &other, &between);
    add_shared_sums(step, &between);
    pthread_barrier_wait(&g_barrier);
    for (long b = from; b < to; ++b) {
      for (struct Molecule* molecule = g_boxes[b].molecules; molecule; molecule = molecule->next) {
        correct(molecule, step, &moved);
      }
    }
    add_shared_sums(step, &moved);
  }
  free_part(&own);
  free_part(&other);
  return NULL;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  make_water(&g_water, &kSettings[options.size], kReach, options.seed);
  if (options.sequential) {
    run_sequential(&g_water);
  } else {
    make_boxes();
    run_with_barrier(g_threads, work, &g_barrier);
  }
  return print_water(&g_water);
}
