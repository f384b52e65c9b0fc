// A fluid that falls in a box, by smoothed particle hydrodynamics on a grid of cells, as PARSEC's
// fluidanimate does it. Sharing: each thread owns a run of cells. Each pair of particles is
// computed once and written at both ends; cells
//          that border on another owner's are written by both, under a mutex of the cell, locked
//          for each end of each pair. Barriers divide the phases. Rebuilding the grid moves
//          particles between cells, and allocates, under the same locks. With --adhoc there are no
//          barriers but plain volatile flags, which threads set and spin on.
// Result:  a digest of all particles. What pairs add up to is kept in integers, so that the order
//          of additions does not show.
// Sizes:   large has particles and frames of PARSEC's simlarge (300000, 5) in a longer box.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Vector {
  double x, y, z;
};

struct Particle {
  struct Vector at, speed;
  int64_t density;  // x 2^32, of the kernel's highest value
  int64_t push[3];  // acceleration, m/s^2 x 2^24
};

struct Cell {
  struct Particle* particles;
  int count, room;
};

struct Setting {
  int wide, high, deep, frames;  // particles along each side of the block of fluid
};
static const struct Setting kSettings[] = {{3, 3, 24, 2}, {16, 16, 216, 8}, {40, 40, 188, 5}};

static const double kSpacing = 0.02, kReach = 0.03, kStep = 0.001, kRestDensity = 1000,
                    kStiffness = 20, kViscosity = 1;
static const double kGravity = -9.8, kSpring = 30000, kDamping = 128, kDensityScale = 0x1p32,
                    kPushScale = 0x1p24;
static const double kPi = 3.14159265358979323846;

static struct Setting g_setting;
static struct Cell *g_cells, *g_before;
static pthread_mutex_t* g_locks;
static char* g_border;  // of a cell: has a neighbour of another owner
static int g_size[3], g_threads, g_adhoc;
static long g_cell_count;
static struct Vector g_box;
static double g_mass, g_density_factor, g_pressure_factor, g_viscosity_factor;
static pthread_barrier_t g_barrier;

// --- cells

static int clamp(int value, int limit) {
  return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

static long cell_at(int x, int y, int z) { return ((long)z * g_size[1] + y) * g_size[0] + x; }

static long cell_of(const struct Vector* at) {
  return cell_at(clamp((int)(at->x / kReach), g_size[0]), clamp((int)(at->y / kReach), g_size[1]),
                 clamp((int)(at->z / kReach), g_size[2]));
}

// Neighbour number 0 to 26 of a cell, 13 the cell itself; -1 where the box ends.
static long neighbour(long cell, int which) {
  const int x = (int)(cell % g_size[0]) + which % 3 - 1,
            y = (int)(cell / g_size[0] % g_size[1]) + which / 3 % 3 - 1;
  const int z = (int)(cell / g_size[0] / g_size[1]) + which / 9 - 1;
  if (x < 0 || y < 0 || z < 0 || x >= g_size[0] || y >= g_size[1] || z >= g_size[2]) return -1;
  return cell_at(x, y, z);
}

static void add_particle(struct Cell* cell, const struct Particle* particle) {
  if (cell->count == cell->room) {
    cell->room = cell->room ? 2 * cell->room : 8;
    cell->particles = realloc(cell->particles, (size_t)cell->room * sizeof *cell->particles);
    must(!cell->particles, "realloc");
  }
  cell->particles[cell->count++] = *particle;
}

static void make_fluid(uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  g_box = (struct Vector){(g_setting.wide + 4) * kSpacing, (g_setting.high + 8) * kSpacing,
                          (g_setting.deep + 4) * kSpacing};
  g_size[0] = (int)ceil(g_box.x / kReach);
  g_size[1] = (int)ceil(g_box.y / kReach);
  g_size[2] = (int)ceil(g_box.z / kReach);
  g_cell_count = (long)g_size[0] * g_size[1] * g_size[2];
  g_cells = calloc((size_t)g_cell_count, sizeof *g_cells);
  g_before = calloc((size_t)g_cell_count, sizeof *g_before);
  must(!g_cells || !g_before, "malloc");
  g_mass = kRestDensity * pow(kSpacing, 3);
  g_density_factor = g_mass * 315 / (64 * kPi * pow(kReach, 3));
  g_pressure_factor = g_mass * 45 / (kPi * pow(kReach, 6)) * kStiffness / 2;
  g_viscosity_factor = g_mass * 45 / (kPi * pow(kReach, 6)) * kViscosity;
  for (int z = 0; z < g_setting.deep; ++z) {
    for (int y = 0; y < g_setting.high; ++y) {
      for (int x = 0; x < g_setting.wide; ++x) {
        struct Particle particle = {0};
        particle.at.x = (x + 1 + random_between(&random, 0, 0.2)) * kSpacing;
        particle.at.y = (y + 3 + random_between(&random, 0, 0.2)) * kSpacing;
        particle.at.z = (z + 1 + random_between(&random, 0, 0.2)) * kSpacing;
        add_particle(&g_cells[cell_of(&particle.at)], &particle);
      }
    }
  }
}

// --- what both versions compute

static double squared_distance(const struct Particle* a, const struct Particle* b) {
  const double x = a->at.x - b->at.x, y = a->at.y - b->at.y, z = a->at.z - b->at.z;
  return x * x + y * y + z * z;
}

// What a pair adds to the density at both ends; 0 where they are too far from each other.
static int64_t pair_density(const struct Particle* a, const struct Particle* b) {
  const double left = 1 - squared_distance(a, b) / (kReach * kReach);
  return left > 0 ? (int64_t)(left * left * left * kDensityScale) : 0;
}

static double density_of(const struct Particle* p) {
  return (1 + (double)p->density / kDensityScale) * g_density_factor;  // 1: its own
}

// What a pair adds to the acceleration of `a`, and takes from that of `b`; for (b, a) exactly the
// same with other sign.
static int pair_push(const struct Particle* a, const struct Particle* b, int64_t* push) {
  const double squared = squared_distance(a, b);
  if (squared >= kReach * kReach) return 0;
  const double distance = squared > 1e-12 ? sqrt(squared) : 1e-6, left = kReach - distance;
  const double of_a = density_of(a), of_b = density_of(b), scale = kPushScale / (of_a * of_b);
  const double pressure =
      g_pressure_factor * left * left / distance * (of_a + of_b - 2 * kRestDensity) * scale;
  const double viscosity = g_viscosity_factor * left * scale;
  push[0] = (int64_t)((a->at.x - b->at.x) * pressure + (b->speed.x - a->speed.x) * viscosity);
  push[1] = (int64_t)((a->at.y - b->at.y) * pressure + (b->speed.y - a->speed.y) * viscosity);
  push[2] = (int64_t)((a->at.z - b->at.z) * pressure + (b->speed.z - a->speed.z) * viscosity);
  return 1;
}

static void move_along(double* at, double* speed, int64_t push, double gravity, double limit) {
  double acceleration = (double)push / kPushScale + gravity;
  const double edge = kSpacing / 2;
  if (*at < edge) acceleration += kSpring * (edge - *at) - kDamping * *speed;
  if (*at > limit - edge) acceleration -= kSpring * (*at - (limit - edge)) + kDamping * *speed;
  *speed += acceleration * kStep;
  const double most =
      0.9 * kReach / kStep;  // so that a particle comes no further than the next cell
  *speed = *speed < -most ? -most : *speed > most ? most : *speed;
  *at += *speed * kStep;
  if (*at < 0) *at = 0;
  if (*at > limit) *at = limit;
}

static void advance(struct Particle* p) {
  move_along(&p->at.x, &p->speed.x, p->push[0], 0, g_box.x);
  move_along(&p->at.y, &p->speed.y, p->push[1], kGravity, g_box.y);
  move_along(&p->at.z, &p->speed.z, p->push[2], 0, g_box.z);
}

static struct Particle cleared(const struct Particle* p) {
  return (struct Particle){.at = p->at, .speed = p->speed};
}

static void add_push(struct Particle* p, const int64_t* push, int sign) {
  for (int i = 0; i < 3; ++i) p->push[i] += sign * push[i];
}

// --- sequential

static void rebuild_sequential(void) {
  struct Cell* cells = g_before;
  g_before = g_cells;
  g_cells = cells;
  for (long c = 0; c < g_cell_count; ++c) g_cells[c].count = 0;
  for (long c = 0; c < g_cell_count; ++c) {
    for (int i = 0; i < g_before[c].count; ++i) {
      const struct Particle particle = cleared(&g_before[c].particles[i]);
      add_particle(&g_cells[cell_of(&particle.at)], &particle);
    }
  }
}

static void pairs_sequential(int forces) {
  for (long c = 0; c < g_cell_count; ++c) {
    for (int which = 0; which <= 13; ++which) {
      const long other = neighbour(c, which);
      if (other < 0) continue;
      for (int i = 0; i < g_cells[c].count; ++i) {
        struct Particle* a = &g_cells[c].particles[i];
        for (int j = 0; j < (other == c ? i : g_cells[other].count); ++j) {
          struct Particle* b = &g_cells[other].particles[j];
          int64_t push[3];
          if (!forces) {
            const int64_t density = pair_density(a, b);
            a->density += density;
            b->density += density;
          } else if (pair_push(a, b, push)) {
            add_push(a, push, 1);
            add_push(b, push, -1);
          }
        }
      }
    }
  }
}

static void sequential(void) {
  for (int frame = 0; frame < g_setting.frames; ++frame) {
    rebuild_sequential();
    pairs_sequential(0);
    pairs_sequential(1);
    for (long c = 0; c < g_cell_count; ++c) {
      for (int i = 0; i < g_cells[c].count; ++i) advance(&g_cells[c].particles[i]);
    }
  }
}

// --- threads

struct Flag {
  volatile long phase;
  char apart[56];
};
static struct Flag g_arrived[kMaxThreads], g_go;

// All have come to the end of a phase.
static void end_phase(long number, long* phase) {
  if (!g_adhoc) {
    pthread_barrier_wait(&g_barrier);
    return;
  }
  ++*phase;
  if (number != 0) {
    g_arrived[number].phase = *phase;
    while (g_go.phase != *phase) continue;
  } else {
    for (int other = 1; other < g_threads; ++other) {
      while (g_arrived[other].phase != *phase) continue;
    }
    g_go.phase = *phase;
  }
}

static void lock_border(long cell) {
  if (g_border[cell]) pthread_mutex_lock(&g_locks[cell]);
}

static void unlock_border(long cell) {
  if (g_border[cell]) pthread_mutex_unlock(&g_locks[cell]);
}

static long first_cell(long number) { return g_cell_count * number / g_threads; }

static void make_locks(void) {
  g_locks = malloc((size_t)g_cell_count * sizeof *g_locks);
  g_border = calloc((size_t)g_cell_count, 1);
  must(!g_locks || !g_border, "malloc");
  for (long number = 0; number < g_threads; ++number) {
    for (long c = first_cell(number); c < first_cell(number + 1); ++c) {
      pthread_mutex_init(&g_locks[c], NULL);
      for (int which = 0; which < 27; ++which) {
        const long other = neighbour(c, which);
        if (other >= 0 && (other < first_cell(number) || other >= first_cell(number + 1)))
          g_border[c] = 1;
      }
    }
  }
}

static void rebuild(const struct Cell* before, struct Cell* cells, long from, long to) {
  for (long c = from; c < to; ++c) {
    for (int i = 0; i < before[c].count; ++i) {
      const struct Particle particle = cleared(&before[c].particles[i]);
      const long cell = cell_of(&particle.at);
      lock_border(cell);
      add_particle(&cells[cell], &particle);
      unlock_border(cell);
    }
  }
}

static void add_densities(struct Particle* a, long cell_a, struct Particle* b, long cell_b) {
  const int64_t density = pair_density(a, b);
  if (!density) return;
  lock_border(cell_a);
  a->density += density;
  unlock_border(cell_a);
  lock_border(cell_b);
  b->density += density;
  unlock_border(cell_b);
}

static void add_forces(struct Particle* a, long cell_a, struct Particle* b, long cell_b) {
  int64_t push[3];
  if (!pair_push(a, b, push)) return;
  lock_border(cell_a);
  add_push(a, push, 1);
  unlock_border(cell_a);
  lock_border(cell_b);
  add_push(b, push, -1);
  unlock_border(cell_b);
}

typedef void (*PairStep)(struct Particle* a, long cell_a, struct Particle* b, long cell_b);

// Each pair once: by the owner of the cell that comes later.
static void for_pairs(struct Cell* cells, long from, long to, PairStep step) {
  for (long c = from; c < to; ++c) {
    for (int which = 0; which <= 13; ++which) {
      const long other = neighbour(c, which);
      if (other < 0) continue;
      for (int i = 0; i < cells[c].count; ++i) {
        for (int j = 0; j < (other == c ? i : cells[other].count); ++j) {
          step(&cells[c].particles[i], c, &cells[other].particles[j], other);
        }
      }
    }
  }
}

static void* worker(void* which) {
  const long number = (long)which, from = first_cell(number), to = first_cell(number + 1);
  struct Cell *cells = g_cells, *before = g_before;
  long phase = 0;
  for (int frame = 0; frame < g_setting.frames; ++frame) {
    struct Cell* swapped = cells;
    cells = before;
    before = swapped;
    for (long c = from; c < to; ++c) cells[c].count = 0;
    end_phase(number, &phase);
    rebuild(before, cells, from, to);
    end_phase(number, &phase);
    for_pairs(cells, from, to, add_densities);
    end_phase(number, &phase);
    for_pairs(cells, from, to, add_forces);
    end_phase(number, &phase);
    for (long c = from; c < to; ++c) {
      for (int i = 0; i < cells[c].count; ++i) advance(&cells[c].particles[i]);
    }
    end_phase(number, &phase);
  }
  if (number == 0) g_cells = cells;
  return NULL;
}

// The particles' order in a cell depends on the threads, so what is printed are sums of integers
// over particles.
static void print_result(void) {
  uint64_t sum = 0;
  int64_t height = 0, density = 0;
  long count = 0;
  for (long c = 0; c < g_cell_count; ++c) {
    for (int i = 0; i < g_cells[c].count; ++i, ++count) {
      const struct Particle* p = &g_cells[c].particles[i];
      sum += digest(0, p, sizeof *p);
      height += (int64_t)(p->at.y * 1e9);
      density += (int64_t)density_of(p);
    }
  }
  printf("%ld particles, %ld cells, mean height %.6f, mean density %ld, digest %016lx\n", count,
         g_cell_count, (double)height / 1e9 / (double)count, (long)(density / count),
         (unsigned long)sum);
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--adhoc", NULL};
  const struct Options options = parse_options(argc, argv, extra);
  g_threads = options.threads;
  g_adhoc = has_option(argc, argv, "--adhoc");
  g_setting = kSettings[options.size];
  make_fluid(options.seed);
  if (options.sequential) {
    sequential();
  } else {
    make_locks();
    run_with_barrier(g_threads, worker, &g_barrier);
  }
  print_result();
  return 0;
}
