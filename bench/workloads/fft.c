// Discrete Fourier transform of n complex points in six steps, and back, as SPLASH-2's fft does it:
// the points are a square matrix; it is transposed three times, and in between its rows are
// transformed and turned by roots of unity. Sharing: each thread owns a strip of rows of both
// matrices. Between transpositions it works on its own rows alone.
//          In a transposition it reads, block by block, a piece of the strip of every thread, each
//          thread beginning with another, and writes its own: everything goes from all to all, with
//          a barrier before and after. The roots for the whole matrix are shared and only read, of
//          those for rows each thread has its own.
// Policies: each strip of a matrix is a slice. It is private to its owner while he works on it;
// before a barrier he keeps it for reading, after it all read
//          it, and before the next one all have released it, so that its owner may write it again.
//          Roots are read only.
// Result:  a digest of the spectrum, some of its points, and three checks: these points against the
//          sum that defines them, the energy, and the way back. A row is computed by one thread,
//          whoever that is, and sums over rows are taken in the order of rows: the same bits for
//          any number of threads.
// Sizes:   small 2^12 points, medium 2^22, large 2^24.
#include <math.h>
#include <weir/weir.h>

#include "options.h"
#include "random.h"
#include "workload.h"

struct Complex {
  double real, imaginary;
};

enum { kBlock = 8, kTried = 3 };  // kBlock: rows and columns that are transposed at a time
static const int kLogSide[] = {6, 11, 12};
static const double kPi = 3.14159265358979323846;

// What one row adds to the result: kept apart, so that it can be summed in the order of rows.
struct RowCheck {
  uint64_t digest;         // of the spectrum
  double energy;           // of the spectrum
  double original_energy;  // of the signal
  double error;            // the largest, of the way back
  struct Complex defined[kTried];
};

static long g_side, g_points, g_threads;
static int g_alone;
static uint64_t g_seed;
static struct weir_array *g_signal, *g_spectrum;  // each is the other's scratch
static struct weir_array* g_turns;                // root of n to the power row * column
static struct Complex* g_row_roots;               // of the side, half a circle
static long g_tried[kTried];  // points of the spectrum that are compared with their definition
static struct weir_array *g_found, *g_checks;
static pthread_barrier_t g_barrier;

static struct Complex times(struct Complex a, struct Complex b) {
  return (struct Complex){a.real * b.real - a.imaginary * b.imaginary,
                          a.real * b.imaginary + a.imaginary * b.real};
}

static struct Complex root(long power, long of) {
  const double angle = -2 * kPi * (double)(power % of) / (double)of;
  return (struct Complex){cos(angle), sin(angle)};
}

static double squared(struct Complex a) { return a.real * a.real + a.imaginary * a.imaginary; }

static double distance(struct Complex a, struct Complex b) {
  return hypot(a.real - b.real, a.imaginary - b.imaginary);
}

static void make_row(long row, struct Complex* points) {
  struct Random random = random_stream(g_seed, (uint64_t)row);
  for (long i = 0; i < g_side; ++i) {
    points[i].real = random_between(&random, -1, 1);
    points[i].imaginary = random_between(&random, -1, 1);
  }
}

static long first_row(long thread) { return g_side * thread / g_threads; }

// Rows of `row_size` elements, each thread's a slice.
static struct weir_array* make_strips(size_t row_size, size_t element_size) {
  size_t ends[kMaxThreads];
  for (long thread = 0; thread < g_threads; ++thread)
    ends[thread] = (size_t)first_row(thread + 1) * row_size;
  struct weir_array* array = weir_array_slice_at((size_t)g_side * row_size, element_size, ends,
                                                 (size_t)g_threads, WEIR_UNTOUCHED);
  must(!array, "malloc");
  return array;
}

static void make_room(void) {
  g_signal = make_strips((size_t)g_side, sizeof(struct Complex));
  g_spectrum = make_strips((size_t)g_side, sizeof(struct Complex));
  g_turns = make_strips((size_t)g_side, sizeof(struct Complex));
  g_checks = make_strips(1, sizeof(struct RowCheck));
  g_found = weir_array_split(kTried, sizeof(struct Complex), WEIR_UNTOUCHED);
  g_row_roots = weir_alloc((size_t)g_side / 2 * sizeof *g_row_roots, WEIR_PRIVATE);
  must(!g_row_roots || !g_found, "malloc");
  for (long i = 0; i < g_side / 2; ++i) g_row_roots[i] = root(i, g_side);
  g_tried[0] = 1;
  g_tried[1] = g_points / 3;
  g_tried[2] = g_points - g_side / 2;
}

// From here on it is only read.
static void set_input(void) {
  weir_set_sticky_read(&g_side);
  weir_set_sticky_read(&g_points);
  weir_set_sticky_read(&g_threads);
  weir_set_sticky_read(&g_alone);
  weir_set_sticky_read(&g_seed);
  weir_set_sticky_read(&g_signal);
  weir_set_sticky_read(&g_spectrum);
  weir_set_sticky_read(&g_turns);
  weir_set_sticky_read(&g_row_roots);
  weir_set_sticky_read(g_row_roots);
  weir_set_sticky_read(&g_tried);
  weir_set_sticky_read(&g_found);
  weir_set_sticky_read(&g_checks);
}

static struct Complex* row_of(const struct weir_array* matrix, long row) {
  return weir_array_at(matrix, (size_t)(row * g_side));
}
static struct Complex* strip_of(const struct weir_array* matrix, long thread) {
  return row_of(matrix, first_row(thread));
}
static int has_rows(long thread) { return first_row(thread) < first_row(thread + 1); }

// --- one thread's part

static void wait_for_all(void) {
  if (!g_alone) pthread_barrier_wait(&g_barrier);
}

static long least(long a, long b) { return a < b ? a : b; }

// `rows` rows of `to` from so many columns, from `first` on, of `from`: both begin with their first
// row, and column `source` of `to` is the first row of `from`.
static void transpose_patch(const struct Complex* from, struct Complex* to, long first, long rows,
                            long source, long columns) {
  for (long row = 0; row < rows; row += kBlock) {
    for (long column = 0; column < columns; column += kBlock) {
      for (long i = row; i < least(row + kBlock, rows); ++i) {
        for (long j = column; j < least(column + kBlock, columns); ++j) {
          to[i * g_side + source + j] = from[j * g_side + first + i];
        }
      }
    }
  }
}

// All hold their own strip of `from` for reading. Afterwards nobody holds any, and each has his of
// `to` for himself.
static void transpose(long me, const struct weir_array* from, struct weir_array* to) {
  const long first = first_row(me), rows = first_row(me + 1) - first;
  struct Complex* mine = strip_of(to, me);
  if (rows) weir_acquire_write(mine);
  for (long next = 1; rows && next <= g_threads; ++next) {
    const long other = (me + next) % g_threads;
    if (!has_rows(other)) continue;
    const struct Complex* source = strip_of(from, other);
    if (other != me) weir_acquire_read(source);
    transpose_patch(source, mine, first, rows, first_row(other),
                    first_row(other + 1) - first_row(other));
    weir_release_read(source);
  }
}

static void transform_row(struct Complex* row, const struct Complex* roots) {
  for (long i = 0, mirrored = 0; i < g_side; ++i) {
    if (i < mirrored) {
      const struct Complex swapped = row[i];
      row[i] = row[mirrored];
      row[mirrored] = swapped;
    }
    long bit = g_side / 2;
    for (; mirrored & bit; bit /= 2) mirrored ^= bit;
    mirrored |= bit;
  }
  for (long half = 1; half < g_side; half *= 2) {
    const long stride = g_side / 2 / half;
    for (long start = 0; start < g_side; start += 2 * half) {
      struct Complex *low = row + start, *high = low + half;
      for (long i = 0; i < half; ++i) {
        const struct Complex turned = times(high[i], roots[i * stride]), stays = low[i];
        low[i] = (struct Complex){stays.real + turned.real, stays.imaginary + turned.imaginary};
        high[i] = (struct Complex){stays.real - turned.real, stays.imaginary - turned.imaginary};
      }
    }
  }
}

static void turn_row(struct Complex* row, const struct Complex* turns, int back) {
  for (long i = 0; i < g_side; ++i) {
    struct Complex turn = turns[i];
    if (back) turn.imaginary = -turn.imaginary;
    row[i] = times(row[i], turn);
  }
}

// The thread keeps its strip for reading, and others may read it after the next barrier.
static void keep_for_reading(const struct weir_array* matrix, long me) {
  if (has_rows(me)) weir_acquire_read(strip_of(matrix, me));
}

// `from` is lost. The last barrier is passed when all of `to` is there.
static void transform(long me, struct weir_array* from, struct weir_array* to,
                      const struct Complex* roots, int back) {
  transpose(me, from, to);
  for (long row = first_row(me); row < first_row(me + 1); ++row) {
    transform_row(row_of(to, row), roots);
    turn_row(row_of(to, row), row_of(g_turns, row), back);
  }
  keep_for_reading(to, me);
  wait_for_all();
  transpose(me, to, from);
  for (long row = first_row(me); row < first_row(me + 1); ++row) {
    struct Complex* points = row_of(from, row);
    transform_row(points, roots);
    for (long i = 0; back && i < g_side; ++i) {
      points[i].real /= (double)g_points;
      points[i].imaginary /= (double)g_points;
    }
  }
  keep_for_reading(from, me);
  wait_for_all();
  transpose(me, from, to);
  keep_for_reading(to, me);
  wait_for_all();
}

static void make_strip(long me) {
  for (long row = first_row(me); row < first_row(me + 1); ++row) {
    struct Complex* turns = row_of(g_turns, row);
    make_row(row, row_of(g_signal, row));
    for (long column = 0; column < g_side; ++column) turns[column] = root(row * column, g_points);
  }
  keep_for_reading(g_signal, me);
  keep_for_reading(g_turns, me);
}

static struct RowCheck* check_of(long row) { return weir_array_at(g_checks, (size_t)row); }

static void look_at_spectrum(long me) {
  for (long row = first_row(me); row < first_row(me + 1); ++row) {
    const struct Complex* points = row_of(g_spectrum, row);
    struct RowCheck* check = check_of(row);
    *check = (struct RowCheck){.digest = digest(0, points, (size_t)g_side * sizeof *points)};
    for (long i = 0; i < g_side; ++i) check->energy += squared(points[i]);
    for (int i = 0; i < kTried; ++i) {
      if (g_tried[i] / g_side != row) continue;
      struct Complex* found = weir_array_at(g_found, (size_t)i);
      *found = points[g_tried[i] % g_side];
      weir_release_write(found);
    }
  }
}

// Root of n to the power `point` * `other`, from two tables.
static struct Complex turn_of(long point, long other) {
  const long power = (long)((unsigned __int128)point * (uint64_t)other % (uint64_t)g_points);
  const long of_side = power / g_side, half = g_side / 2;
  const struct Complex turn =
      times(g_row_roots[of_side % half], row_of(g_turns, 1)[power % g_side]);
  return of_side < half ? turn : (struct Complex){-turn.real, -turn.imaginary};
}

static void look_at_signal(long me, struct Complex* original) {
  if (has_rows(me) && !(first_row(me) <= 1 && 1 < first_row(me + 1)))
    weir_acquire_read(row_of(g_turns, 1));
  for (long row = first_row(me); row < first_row(me + 1); ++row) {
    struct RowCheck* check = check_of(row);
    const struct Complex* signal = row_of(g_signal, row);
    make_row(row, original);
    for (long i = 0; i < g_side; ++i) {
      const double error = distance(original[i], signal[i]);
      if (!(error <= check->error)) check->error = error;
      check->original_energy += squared(original[i]);
      for (int which = 0; which < kTried; ++which) {
        const struct Complex turned = times(original[i], turn_of(row * g_side + i, g_tried[which]));
        check->defined[which].real += turned.real;
        check->defined[which].imaginary += turned.imaginary;
      }
    }
  }
  if (has_rows(me)) weir_release_write(check_of(first_row(me)));
}

static void* worker(void* number) {
  const long me = (long)number, half = g_side / 2;
  struct Complex* roots = malloc((size_t)half * sizeof *roots);
  struct Complex* original = malloc((size_t)g_side * sizeof *original);
  must(!roots || !original, "malloc");
  memcpy(roots, g_row_roots, (size_t)half * sizeof *roots);
  make_strip(me);
  wait_for_all();
  transform(me, g_signal, g_spectrum, roots, 0);
  look_at_spectrum(me);
  for (long i = 0; i < half; ++i) roots[i].imaginary = -roots[i].imaginary;
  transform(me, g_spectrum, g_signal, roots, 1);
  look_at_signal(me, original);
  free(original);
  free(roots);
  return NULL;
}

// --- result

// Bounds far above what rounding makes (about 1e-16 for each of 2 log2 n steps, relative to the
// whole) and far below what a single wrong point would.
static int print_result(void) {
  double energy = 0, spectrum_energy = 0, worst = 0;
  uint64_t sum = 0;
  for (long thread = 0; thread < g_threads; ++thread) {
    if (has_rows(thread)) weir_acquire_read(check_of(first_row(thread)));
  }
  struct Complex defined[kTried] = {{0, 0}};
  for (long row = 0; row < g_side; ++row) {
    const struct RowCheck* check = check_of(row);
    sum = digest(sum, &check->digest, sizeof check->digest);
    energy += check->original_energy;
    spectrum_energy += check->energy;
    if (!(check->error <= worst)) worst = check->error;
    for (int i = 0; i < kTried; ++i) {
      defined[i].real += check->defined[i].real;
      defined[i].imaginary += check->defined[i].imaginary;
    }
  }
  int as_defined = 1;
  for (int i = 0; i < kTried; ++i) {
    const struct Complex* found = weir_array_at(g_found, (size_t)i);
    weir_acquire_read(found);
    as_defined &= distance(defined[i], *found) < 1e-10 * sqrt((double)g_points);
    printf("point %ld: %.9f %.9f\n", g_tried[i], found->real, found->imaginary);
  }
  const int kept = fabs(spectrum_energy / (double)g_points / energy - 1) < 1e-12,
            back = worst < 1e-12;
  printf("%ld points, spectrum %016lx, energy %.6f\n", g_points, (unsigned long)sum, energy);
  printf("points as defined: %s, energy kept: %s, the way back: %s\n", as_defined ? "yes" : "no",
         kept ? "yes" : "no", back ? "yes" : "no");
  return as_defined && kept && back;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_alone = options.sequential;
  g_threads = g_alone ? 1 : options.threads;
  g_seed = options.seed;
  g_side = 1L << kLogSide[options.size];
  g_points = g_side * g_side;
  make_room();
  set_input();
  if (g_alone) {
    worker(NULL);
  } else {
    run_with_barrier(g_threads, worker, &g_barrier);
  }
  return !print_result();
}
