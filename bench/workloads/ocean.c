// Eddies of a wind-driven ocean in a square basin, in the manner of SPLASH-2's ocean, with one
// layer of water: at each step of time new vorticity comes from what carries, turns and slows the
// old, and from it the stream function, by multigrid with red-black Gauss-Seidel relaxation.
// Sharing: each thread owns a strip of rows of every grid. On coarse grids it has few rows or none,
// and all strips lie
//          in one page. It reads the rows beside its strip, which its neighbours wrote in the phase
//          before. A barrier ends each phase; on coarse grids the phase is shorter than the
//          barrier. The largest residual and the energy are put together under a lock; by the
//          residual all decide whether to go on.
// Result:  the cycles needed, the energy, digests of both fields, and two checks: at the start the
//          stream function is known exactly, and the residual at the end is small. A cell is
//          computed from the same values whoever owns it; the maximum, and the energy in whole
//          numbers, do not depend on the order in which threads come.
// Sizes:   cells with the border: small 34 by 34, medium 514, large 2050.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Setting {
  int side, steps;  // side: a power of 2, without the border
};
static const struct Setting kSettings[] = {{32, 3}, {512, 16}, {2048, 4}};

enum { kMaxLevels = 12, kCoarsest = 4, kModes = 6, kMaxWaves = 4, kMaxCycles = 40 };
static const double kPi = 3.14159265358979323846, kTolerance = 1e-7, kEnergyScale = 0x1p40;
static const double kBeta = 1, kWind = 1e-2, kFriction = 0.05;  // the basin is 1 wide

// A grid of cells with a border that stays zero: walls, with the stream function zero at the edge
// of the outermost cells.
struct Level {
  int side;
  double per_square;       // 1 / (width of a cell)^2
  double *stream, *right;  // of the equation laplacian(stream) = right
};

struct Mode {
  int across, along;  // half waves
  double height;
};

static struct Level g_levels[kMaxLevels];
static int g_level_count, g_threads, g_steps, g_alone;
static struct Mode g_modes[kModes];
static double*
    g_sines[kMaxWaves + 1];  // at the middles of cells, by the number of half waves in the basin
static double* g_vorticity;
static pthread_barrier_t g_barrier;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static double
    g_residual[2];           // the largest, of cycles by turns; guarded by g_lock until the barrier
static int64_t g_energy[2];  // x kEnergyScale, of steps by turns; likewise
static double g_worst_start, g_last_residual;  // written by thread 0
static long g_cycles;                          // likewise

// --- rows of one level

struct Strip {
  int first, limit;
};

static size_t stride(const struct Level* level) { return (size_t)level->side + 2; }

static struct Strip strip_of(long me, int rows) {
  return (struct Strip){1 + (int)(rows * me / g_threads), 1 + (int)(rows * (me + 1) / g_threads)};
}

// Neighbours of a cell that are beyond the walls: there the stream function is the cell's own with
// the other sign.
static int walls(const struct Level* level, int row, int column) {
  return (row == 1) + (row == level->side) + (column == 1) + (column == level->side);
}

static double laplacian(const struct Level* level, const double* field, int row, int column) {
  const double* cell = field + (size_t)row * stride(level) + column;
  const double around = cell[-1] + cell[1] + cell[-(long)stride(level)] + cell[stride(level)];
  return (around - (4 + walls(level, row, column)) * *cell) * level->per_square;
}

static void relax(const struct Level* level, struct Strip rows, int colour) {
  static const double inverse[] = {1.0 / 4, 1.0 / 5, 1.0 / 6};
  const double square = 1 / level->per_square;
  const size_t width = stride(level);
  for (int i = rows.first; i < rows.limit; ++i) {
    double* cells = level->stream + (size_t)i * width;
    const double* right = level->right + (size_t)i * width;
    const double inside = inverse[walls(level, i, 2)];
    for (int j = 1 + (i + colour) % 2; j <= level->side; j += 2) {
      const double around = cells[j - 1] + cells[j + 1] + cells[j - (long)width] + cells[j + width];
      const int at_side = j == 1 || j == level->side;
      cells[j] = (around - square * right[j]) * (at_side ? inverse[walls(level, i, j)] : inside);
    }
  }
}

// Each coarse cell gets the mean residual of its four fine ones.
static void restrict_residual(const struct Level* fine, const struct Level* coarse,
                              struct Strip rows) {
  for (int i = rows.first; i < rows.limit; ++i) {
    for (int j = 1; j <= coarse->side; ++j) {
      double sum = 0;
      for (int part = 0; part < 4; ++part) {
        const int row = 2 * i - part / 2, column = 2 * j - part % 2;
        sum += fine->right[(size_t)row * stride(fine) + column] -
               laplacian(fine, fine->stream, row, column);
      }
      coarse->right[(size_t)i * stride(coarse) + j] = sum / 4;
      coarse->stream[(size_t)i * stride(coarse) + j] = 0;
    }
  }
}

// The correction is interpolated from the four nearest coarse cells; beyond a wall it has the other
// sign.
static void add_correction(const struct Level* fine, const struct Level* coarse,
                           struct Strip rows) {
  for (int i = rows.first; i < rows.limit; ++i) {
    const int near = (i + 1) / 2, far = i % 2 ? near - 1 : near + 1;
    const int outside = far < 1 || far > coarse->side;
    const double *here = coarse->stream + (size_t)near * stride(coarse),
                 *there = coarse->stream + (size_t)(outside ? near : far) * stride(coarse);
    const double weight = outside ? -0.25 : 0.25;
    for (int j = 1; j <= fine->side; ++j) {
      const int beside = (j + 1) / 2, next = j % 2 ? beside - 1 : beside + 1;
      const double own = 0.75 * here[beside] + weight * there[beside];
      const double other =
          next < 1 || next > coarse->side ? -own : 0.75 * here[next] + weight * there[next];
      fine->stream[(size_t)i * stride(fine) + j] += 0.75 * own + 0.25 * other;
    }
  }
}

static double largest_residual(const struct Level* level, struct Strip rows) {
  double largest = 0;
  for (int i = rows.first; i < rows.limit; ++i) {
    for (int j = 1; j <= level->side; ++j) {
      const double residual =
          level->right[(size_t)i * stride(level) + j] - laplacian(level, level->stream, i, j);
      if (!(fabs(residual) <= largest)) largest = fabs(residual);
    }
  }
  return largest;
}

// --- multigrid

static void wait_for_all(void) {
  if (!g_alone) pthread_barrier_wait(&g_barrier);
}

static void lock(void) {
  if (!g_alone) pthread_mutex_lock(&g_lock);
}

static void unlock(void) {
  if (!g_alone) pthread_mutex_unlock(&g_lock);
}

static void relax_both(long me, const struct Level* level, int times) {
  for (int i = 0; i < 2 * times; ++i) {
    relax(level, strip_of(me, level->side), i % 2);
    wait_for_all();
  }
}

static void cycle(long me) {
  int depth = 0;
  for (; depth + 1 < g_level_count; ++depth) {
    relax_both(me, &g_levels[depth], 2);
    restrict_residual(&g_levels[depth], &g_levels[depth + 1],
                      strip_of(me, g_levels[depth + 1].side));
    wait_for_all();
  }
  relax_both(me, &g_levels[depth], 10);
  while (--depth >= 0) {
    add_correction(&g_levels[depth], &g_levels[depth + 1], strip_of(me, g_levels[depth].side));
    wait_for_all();
    relax_both(me, &g_levels[depth], 1);
  }
}

// Cycles until the largest residual is small, which all threads see alike. A cell of g_residual is
// set to zero two barriers or more after it was read and before it is used again. `turn` counts the
// cycles of all steps.
static void solve(long me, long* turn) {
  double residual;
  int cycles = 0;
  do {
    cycle(me);
    const double own = largest_residual(&g_levels[0], strip_of(me, g_levels[0].side));
    lock();
    if (!(own <= g_residual[*turn % 2])) g_residual[*turn % 2] = own;
    unlock();
    wait_for_all();
    residual = g_residual[*turn % 2];
    ++*turn;
    if (me == 0) {
      g_residual[*turn % 2] = 0;
      g_last_residual = residual;
      ++g_cycles;
    }
  } while (!(residual < kTolerance) && ++cycles < kMaxCycles);
}

// --- the ocean

static double mode_at(const struct Mode* mode, int row, int column) {
  return mode->height * g_sines[mode->across][column] * g_sines[mode->along][row];
}

// What the laplacian of the grid makes of a mode is the mode times this.
static double mode_factor(const struct Mode* mode, const struct Level* level) {
  const double across = sin(kPi * mode->across / 2 / level->side),
               along = sin(kPi * mode->along / 2 / level->side);
  return -4 * level->per_square * (across * across + along * along);
}

static void set_start(const struct Level* level, struct Strip rows) {
  for (int i = rows.first; i < rows.limit; ++i) {
    for (int j = 1; j <= level->side; ++j) {
      double sum = 0;
      for (int m = 0; m < kModes; ++m) {
        sum += mode_factor(&g_modes[m], level) * mode_at(&g_modes[m], i, j);
      }
      level->right[(size_t)i * stride(level) + j] = sum;
    }
  }
}

static double error_of_start(const struct Level* level, struct Strip rows) {
  double worst = 0;
  for (int i = rows.first; i < rows.limit; ++i) {
    for (int j = 1; j <= level->side; ++j) {
      double sum = 0;
      for (int m = 0; m < kModes; ++m) sum += mode_at(&g_modes[m], i, j);
      const double error = fabs(sum - level->stream[(size_t)i * stride(level) + j]);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

// How the flow carries vorticity, after Arakawa: neither energy nor the square of vorticity is made
// by the grid.
static double carried(const struct Level* level, size_t at) {
  const double *p = level->stream + at, *q = g_vorticity + at;
  const long up = (long)stride(level);
  const double plus = (p[1] - p[-1]) * (q[up] - q[-up]) - (p[up] - p[-up]) * (q[1] - q[-1]);
  const double flux = p[1] * (q[up + 1] - q[1 - up]) - p[-1] * (q[up - 1] - q[-up - 1]) -
                      p[up] * (q[up + 1] - q[up - 1]) + p[-up] * (q[1 - up] - q[-up - 1]);
  const double back = q[up] * (p[up + 1] - p[up - 1]) - q[-up] * (p[1 - up] - p[-up - 1]) -
                      q[1] * (p[up + 1] - p[1 - up]) + q[-1] * (p[up - 1] - p[-up - 1]);
  return (plus + flux + back) * level->per_square / 12;
}

// The vorticity after one more step of time, as the right side of the equation. In the outermost
// cells it is only slowed and driven by the wind.
static void advance(const struct Level* level, struct Strip rows) {
  const double step = 0.25 / level->side, viscosity = 0.05 / level->side;
  for (int i = rows.first; i < rows.limit; ++i) {
    const double wind = -kWind * sin(2 * kPi * (i - 0.5) / level->side);
    for (int j = 1; j <= level->side; ++j) {
      const size_t at = (size_t)i * stride(level) + j;
      double change = wind - kFriction * g_vorticity[at];
      if (!walls(level, i, j)) {
        const double east = (level->stream[at + 1] - level->stream[at - 1]) * level->side / 2;
        change +=
            viscosity * laplacian(level, g_vorticity, i, j) - carried(level, at) - kBeta * east;
      }
      level->right[at] = g_vorticity[at] + step * change;
    }
  }
}

// Keeps the new vorticity, and returns the energy of the strip.
static int64_t take_over(const struct Level* level, struct Strip rows) {
  int64_t energy = 0;
  const double scale = -kEnergyScale / 2 / level->per_square;
  for (int i = rows.first; i < rows.limit; ++i) {
    for (int j = 1; j <= level->side; ++j) {
      const size_t at = (size_t)i * stride(level) + j;
      g_vorticity[at] = level->right[at];
      energy += (int64_t)(scale * level->stream[at] * level->right[at]);
    }
  }
  return energy;
}

static void* worker(void* number) {
  const long me = (long)number;
  const struct Level* level = &g_levels[0];
  const struct Strip rows = strip_of(me, level->side);
  long turn = 0;
  set_start(level, rows);
  wait_for_all();
  for (int step = 0; step <= g_steps; ++step) {
    solve(me, &turn);
    if (step == 0) {
      const double error = error_of_start(level, rows);
      lock();
      if (!(error <= g_worst_start)) g_worst_start = error;
      unlock();
    }
    const int64_t energy = take_over(level, rows);
    lock();
    g_energy[step % 2] += energy;
    unlock();
    wait_for_all();
    if (me == 0) {
      printf("step %d: energy %.9g, cycles so far %ld\n", step,
             (double)g_energy[step % 2] / kEnergyScale, g_cycles);
      g_energy[(step + 1) % 2] = 0;
    }
    if (step == g_steps) break;
    advance(level, rows);
    wait_for_all();
  }
  return NULL;
}

static void make_ocean(const struct Setting* setting, uint64_t seed) {
  struct Random random = random_stream(seed, 0);
  g_steps = setting->steps;
  for (int side = setting->side; side >= kCoarsest; side /= 2) {
    struct Level* level = &g_levels[g_level_count++];
    const size_t cells = (size_t)(side + 2) * (size_t)(side + 2);
    level->side = side;
    level->per_square = (double)side * side;
    level->stream = calloc(cells, sizeof(double));
    level->right = calloc(cells, sizeof(double));
    must(!level->stream || !level->right, "malloc");
    if (!g_vorticity) must(!(g_vorticity = calloc(cells, sizeof(double))), "malloc");
  }
  for (int waves = 1; waves <= kMaxWaves; ++waves) {
    must(!(g_sines[waves] = malloc(stride(&g_levels[0]) * sizeof(double))), "malloc");
    for (int i = 1; i <= setting->side; ++i)
      g_sines[waves][i] = sin(kPi * waves * (i - 0.5) / setting->side);
  }
  for (int m = 0; m < kModes; ++m) {
    g_modes[m].across = 1 + (int)random_below(&random, kMaxWaves);
    g_modes[m].along = 1 + (int)random_below(&random, kMaxWaves);
    g_modes[m].height = random_between(&random, -0.01, 0.01);
  }
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_alone = options.sequential;
  g_threads = g_alone ? 1 : options.threads;
  make_ocean(&kSettings[options.size], options.seed);
  if (g_alone) {
    worker(NULL);
  } else {
    run_with_barrier(g_threads, worker, &g_barrier);
  }
  const size_t size = stride(&g_levels[0]) * stride(&g_levels[0]) * sizeof(double);
  const double residual = largest_residual(&g_levels[0], (struct Strip){1, g_levels[0].side + 1});
  const int known = g_worst_start < 1e-7,
            small = residual < kTolerance && residual == g_last_residual;
  printf("%d by %d, %ld cycles, stream %016lx, vorticity %016lx\n", g_levels[0].side + 2,
         g_levels[0].side + 2, g_cycles, (unsigned long)digest(0, g_levels[0].stream, size),
         (unsigned long)digest(0, g_vorticity, size));
  printf("known start found: %s, residual small: %s\n", known ? "yes" : "no", small ? "yes" : "no");
  return !(known && small);
}
