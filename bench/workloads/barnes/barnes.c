// Gravity among bodies by the method of Barnes and Hut, as SPLASH-2's barnes does it: in each step
// an octree is built over all bodies, cells are summed to mass, centre and quadrupole, and each
// body walks the tree for the force on it. Sharing: all threads put their bodies into one tree.
// They go down it without locks, and lock a cell, by one of an
//          array of mutexes that cells are hashed to, only to change one of its children; the child
//          is looked at again then. Cells are in memory of the thread that made them, and have
//          bodies and cells of others as children: who sums a cell waits, by a condition of the
//          same array, for the children that others make; with --adhoc it spins on a plain flag in
//          the child, as the original does. Forces only read the tree, which all others have
//          written. Bodies are dealt out again in each step, along the tree, by the work that they
//          made in the last (cost zones), so a body goes from thread to thread while its memory
//          stays. Bounds and energies are put together under one lock. Barriers divide the phases.
// Result:  a digest of all bodies. An octree with one body in a leaf depends on the set of bodies
//          alone, and sums go in the order of children. What threads add up under locks, the
//          energies, is in fixed point, since that addition is associative. Checked: energy and
//          momentum stay.
// Sizes:   large has 32768 bodies (the papers 16384) and 8 steps.
#include <math.h>

#include "../options.h"
#include "../random.h"
#include "../workload.h"
#include "tree.h"

enum { kLocks = 2048, kChunk = 256, kMaxSteps = 64 };

static const struct {
  long bodies;
  int steps;
} kSizeOf[kSizes] = {{400, 2}, {8192, 8}, {32768, 8}};

static const double kEnergyScale = 0x1p48;

// A thread's cells; chunks are kept from step to step.
struct Chunk {
  struct Chunk *before, *after;
  int used;
  struct Cell cells[kChunk];
};

struct Worker {
  int number;
  struct Chunk *first, *chunk;  // chunk: the one in use
  long made;                    // cells in this step
  struct Cell* last;            // into which the last body was put: the next is likely to be near
  struct Body** bodies;         // its own in this step
  long count;
};

// What all threads put together for one step. Guarded by: g_sum_lock; read after the next barrier.
struct Sums {
  double low[3], high[3];
  int64_t kinetic, potential;
};

static struct Body* g_bodies;
static struct Cell* g_root;
static struct Sums g_sums[kMaxSteps + 1];
static long g_count;
static int g_steps, g_threads, g_adhoc;
static pthread_barrier_t g_barrier;
static pthread_mutex_t g_sum_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t g_locks[kLocks];
static pthread_cond_t g_conditions[kLocks];

// --- cells

static struct Cell* new_cell(struct Worker* worker, struct Cell* parent, int place) {
  if (!worker->chunk || worker->chunk->used == kChunk) {
    struct Chunk* next = worker->chunk ? worker->chunk->after : worker->first;
    if (!next) {
      next = malloc(sizeof *next);
      must(!next, "malloc");
      next->before = worker->chunk;
      next->after = NULL;
      if (worker->chunk) worker->chunk->after = next;
      if (!worker->first) worker->first = next;
    }
    next->used = 0;
    worker->chunk = next;
  }
  struct Cell* cell = &worker->chunk->cells[worker->chunk->used++];
  init_cell(cell, parent, place, worker->number, worker->made++);
  return cell;
}

static void forget_cells(struct Worker* worker) {
  worker->chunk = NULL;
  worker->made = 0;
}

static void free_cells(struct Worker* worker) {
  while (worker->first) {
    struct Chunk* next = worker->first->after;
    free(worker->first);
    worker->first = next;
  }
}

static int lock_of(const struct Cell* cell) {
  return (int)((cell->serial * 61 + cell->maker * 509) % kLocks);
}

// --- phases of one thread

// A child that others may be changing.
static struct Node* look(struct Node** place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

static void change(struct Node** place, struct Node* node) {
  __atomic_store_n(place, node, __ATOMIC_RELEASE);
}

static void insert(struct Worker* worker, struct Body* body) {
  struct Cell* cell = worker->last;
  while (!holds(cell, body)) cell = cell->parent;
  for (int placed = 0; !placed;) {
    struct Node** place = &cell->child[octant(cell, body)];
    struct Node* found = look(place);
    if (!found || found->is_body) {
      pthread_mutex_t* lock = &g_locks[lock_of(cell)];
      pthread_mutex_lock(lock);
      found = look(place);
      if (!found) {
        change(place, &body->node);
        placed = 1;
      } else if (found->is_body) {
        struct Cell* between = new_cell(worker, cell, (int)(place - cell->child));
        between->child[octant(between, (struct Body*)found)] = found;
        found = &between->node;
        change(place, found);
      }
      pthread_mutex_unlock(lock);
    }
    if (!placed) cell = (struct Cell*)found;
  }
  worker->last = cell;
}

static void wait_for(struct Cell* cell) {
  if (g_adhoc) {
    while (!__atomic_load_n(&cell->done, __ATOMIC_ACQUIRE)) continue;
    return;
  }
  const int number = lock_of(cell);
  pthread_mutex_lock(&g_locks[number]);
  while (!cell->done) pthread_cond_wait(&g_conditions[number], &g_locks[number]);
  pthread_mutex_unlock(&g_locks[number]);
}

static void announce(struct Cell* cell) {
  if (g_adhoc) {
    __atomic_store_n(&cell->done, 1, __ATOMIC_RELEASE);
    return;
  }
  if (!cell->parent || cell->parent->maker == cell->maker) return;  // nobody else will wait
  const int number = lock_of(cell);
  pthread_mutex_lock(&g_locks[number]);
  cell->done = 1;
  pthread_cond_broadcast(&g_conditions[number]);
  pthread_mutex_unlock(&g_locks[number]);
}

// The last made first. A child is made after its parent, so no two threads wait for each other.
static void sum_cells(struct Worker* worker) {
  for (struct Chunk* chunk = worker->chunk; chunk; chunk = chunk->before) {
    for (int i = chunk->used - 1; i >= 0; --i) {
      struct Cell* cell = &chunk->cells[i];
      for (int c = 0; c < 8; ++c) {
        struct Cell* child = (struct Cell*)cell->child[c];
        if (child && !child->node.is_body && child->maker != worker->number) wait_for(child);
      }
      sum_children(cell);
      announce(cell);
    }
  }
}

// Takes the bodies below `node` whose place in the sum of costs, `before` at the node, lies in
// [from, to).
static void take_zone(struct Worker* worker, struct Node* node, long before, long from, long to) {
  if (node->is_body) {
    if (before >= from && before < to) worker->bodies[worker->count++] = (struct Body*)node;
    return;
  }
  for (int c = 0; c < 8 && before < to; ++c) {
    struct Node* child = ((struct Cell*)node)->child[c];
    if (!child) continue;
    if (before + child->cost > from) take_zone(worker, child, before, from, to);
    before += child->cost;
  }
}

static void partition(struct Worker* worker, struct Cell* root) {
  const long cost = root->node.cost;
  worker->count = 0;
  take_zone(worker, &root->node, 0, cost * worker->number / g_threads,
            cost * (worker->number + 1) / g_threads);
}

static struct Sums no_sums(void) {
  return (struct Sums){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, 0};
}

static void add_bounds(struct Sums* sums, const struct Sums* more) {
  for (int d = 0; d < 3; ++d) {
    sums->low[d] = fmin(sums->low[d], more->low[d]);
    sums->high[d] = fmax(sums->high[d], more->high[d]);
  }
}

static void begin_step(struct Body* body, int step, struct Sums* sums) {
  body->node.cost = step > 0 ? body->next_cost : 1;
  if (step > 0) {
    kick(body);
    drift(body);
  }
  for (int d = 0; d < 3; ++d) {
    sums->low[d] = fmin(sums->low[d], body->node.at[d]);
    sums->high[d] = fmax(sums->high[d], body->node.at[d]);
  }
}

static void end_step(struct Body* body, int step, const struct Cell* root, const struct Cube* cube,
                     struct Sums* sums) {
  find_force(body, root, cube);
  if (step > 0) kick(body);
  const double* v = body->speed;
  const double half = body->node.mass / 2 * kEnergyScale;
  sums->kinetic += (int64_t)((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * half);
  sums->potential += (int64_t)(body->potential * half);
}

static void* work(void* number) {
  struct Worker worker = {.number = (int)(long)number};
  worker.bodies = malloc((size_t)g_count * sizeof *worker.bodies);
  must(!worker.bodies, "malloc");
  const long limit = g_count * (worker.number + 1) / g_threads;
  for (long i = g_count * worker.number / g_threads; i < limit; ++i)
    worker.bodies[worker.count++] = &g_bodies[i];

  for (int step = 0; step <= g_steps; ++step) {
    struct Sums sums = no_sums();
    for (long i = 0; i < worker.count; ++i) begin_step(worker.bodies[i], step, &sums);
    pthread_mutex_lock(&g_sum_lock);
    add_bounds(&g_sums[step], &sums);
    pthread_mutex_unlock(&g_sum_lock);
    forget_cells(&worker);
    if (worker.number == 0) g_root = new_cell(&worker, NULL, 0);
    pthread_barrier_wait(&g_barrier);

    struct Cell* root = g_root;
    const struct Cube cube = cube_around(g_sums[step].low, g_sums[step].high);
    worker.last = root;
    for (long i = 0; i < worker.count; ++i) {
      set_key(worker.bodies[i], &cube);
      insert(&worker, worker.bodies[i]);
    }
    pthread_barrier_wait(&g_barrier);
    sum_cells(&worker);
    pthread_barrier_wait(&g_barrier);

    partition(&worker, root);
    for (long i = 0; i < worker.count; ++i) end_step(worker.bodies[i], step, root, &cube, &sums);
    pthread_mutex_lock(&g_sum_lock);
    g_sums[step].kinetic += sums.kinetic;
    g_sums[step].potential += sums.potential;
    pthread_mutex_unlock(&g_sum_lock);
    pthread_barrier_wait(&g_barrier);
  }
  free_cells(&worker);
  free(worker.bodies);
  return NULL;
}

// --- sequential

// Puts the body into the tree below `cell`.
static void insert_below(struct Worker* worker, struct Cell* cell, struct Body* body) {
  struct Node** place = &cell->child[octant(cell, body)];
  if (!*place) {
    *place = &body->node;
    return;
  }
  if ((*place)->is_body) {
    struct Body* other = (struct Body*)*place;
    *place = &new_cell(worker, cell, (int)(place - cell->child))->node;
    insert_below(worker, (struct Cell*)*place, other);
  }
  insert_below(worker, (struct Cell*)*place, body);
}

static void sum_below(struct Cell* cell) {
  for (int c = 0; c < 8; ++c) {
    if (cell->child[c] && !cell->child[c]->is_body) sum_below((struct Cell*)cell->child[c]);
  }
  sum_children(cell);
}

static void sequential(void) {
  struct Worker worker = {0};
  for (int step = 0; step <= g_steps; ++step) {
    for (long i = 0; i < g_count; ++i) begin_step(&g_bodies[i], step, &g_sums[step]);
    const struct Cube cube = cube_around(g_sums[step].low, g_sums[step].high);
    forget_cells(&worker);
    struct Cell* root = new_cell(&worker, NULL, 0);
    for (long i = 0; i < g_count; ++i) {
      set_key(&g_bodies[i], &cube);
      insert_below(&worker, root, &g_bodies[i]);
    }
    sum_below(root);
    for (long i = 0; i < g_count; ++i) end_step(&g_bodies[i], step, root, &cube, &g_sums[step]);
  }
  free_cells(&worker);
}

// --- the result

static double energy(int step) {
  return (double)(g_sums[step].kinetic + g_sums[step].potential) / kEnergyScale;
}

// The bodies' speeds added up, against the sum of their lengths.
static double momentum(void) {
  double sum[3] = {0}, lengths = 0;
  for (long i = 0; i < g_count; ++i) {
    const double* v = g_bodies[i].speed;
    for (int d = 0; d < 3; ++d) sum[d] += v[d];
    lengths += sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / lengths;
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--adhoc", NULL};
  const struct Options options = parse_options(argc, argv, extra);
  g_threads = options.threads;
  g_adhoc = has_option(argc, argv, "--adhoc");
  g_count = kSizeOf[options.size].bodies;
  g_steps = kSizeOf[options.size].steps;
  g_bodies = malloc((size_t)g_count * sizeof *g_bodies);
  must(!g_bodies, "malloc");
  make_bodies(g_bodies, g_count, options.seed);
  for (int step = 0; step <= g_steps; ++step) g_sums[step] = no_sums();
  if (options.sequential) {
    sequential();
  } else {
    for (int i = 0; i < kLocks; ++i) {
      must(pthread_mutex_init(&g_locks[i], NULL) || pthread_cond_init(&g_conditions[i], NULL),
           "pthread_mutex_init");
    }
    run_with_barrier(g_threads, work, &g_barrier);
  }

  uint64_t sum = 0;
  for (long i = 0; i < g_count; ++i) {
    sum = digest(sum, g_bodies[i].node.at, sizeof g_bodies[i].node.at);
    sum = digest(sum, g_bodies[i].speed, sizeof g_bodies[i].speed);
    sum = digest(sum, &g_bodies[i].next_cost, sizeof g_bodies[i].next_cost);
  }
  const double first = energy(0), last = energy(g_steps);
  const int stays = fabs(last - first) < 0.005 * fabs(first), rests = momentum() < 0.002;
  printf("%ld bodies, %d steps, energy %.9f, then %.9f, digest %016lx\n", g_count, g_steps, first,
         last, (unsigned long)sum);
  printf("energy stays: %s, momentum stays: %s\n", stays ? "yes" : "no", rests ? "yes" : "no");
  return !(stays && rests);
}
