// Factors of a dense matrix, a lower times an upper triangle, without pivoting and block by block,
// as SPLASH-2's lu does it (with contiguous blocks).
// Sharing: every block lies in one piece, the blocks of one thread side by side, and is written by
// its owner alone; the
//          owners are scattered over the blocks in two dimensions. At each step the owner of the
//          diagonal block factors it, the owners of the blocks below it and to its right read it,
//          and these are read for all other blocks: two barriers a step, and from step to step less
//          work and fewer readers.
// Result:  a digest of the factors, the logarithm of the determinant, and a check: a system whose
//          solution is known is solved. Each block sees the same operations in the same order
//          whoever owns it.
// Sizes:   blocks of 16 by 16; small 96 by 96, medium 1536, large 2048.
#include <math.h>

#include "options.h"
#include "random.h"
#include "workload.h"

enum { kSide = 16, kElements = kSide * kSide };  // of a block
static const long kOrders[] = {96, 1536, 2048};

static long g_order, g_blocks, g_threads;  // g_blocks: along a side of the matrix
static long g_rows, g_columns;             // of the grid of threads
static int g_alone;
static uint64_t g_seed;
static double** g_block;    // elements of each block, by its place in the matrix
static uint64_t* g_digest;  // of each block
static pthread_barrier_t g_barrier;

// Dominated by its diagonal, so that it needs no pivoting.
static double element(long row, long column) {
  const uint64_t bits = random_mix(g_seed + random_mix((uint64_t)(row * g_order + column)));
  return (double)(bits >> 11) * 0x1p-53 - 0.5 + (row == column ? (double)g_order / 8 : 0);
}

// --- one block, 16 rows one after another

// The block becomes its own factors; the lower one has ones on its diagonal, which are not kept.
static void factor(double* a) {
  for (int k = 0; k < kSide; ++k) {
    for (int i = k + 1; i < kSide; ++i) {
      a[i * kSide + k] /= a[k * kSide + k];
      for (int j = k + 1; j < kSide; ++j) a[i * kSide + j] -= a[i * kSide + k] * a[k * kSide + j];
    }
  }
}

// Divides a block below the diagonal by the diagonal's upper factor.
static void divide_by_upper(double* restrict a, const double* restrict diagonal) {
  for (int i = 0; i < kSide; ++i) {
    for (int k = 0; k < kSide; ++k) {
      a[i * kSide + k] /= diagonal[k * kSide + k];
      for (int j = k + 1; j < kSide; ++j)
        a[i * kSide + j] -= a[i * kSide + k] * diagonal[k * kSide + j];
    }
  }
}

// Divides a block right of the diagonal by the diagonal's lower factor.
static void divide_by_lower(double* restrict a, const double* restrict diagonal) {
  for (int k = 0; k < kSide; ++k) {
    for (int i = k + 1; i < kSide; ++i) {
      for (int j = 0; j < kSide; ++j)
        a[i * kSide + j] -= diagonal[i * kSide + k] * a[k * kSide + j];
    }
  }
}

static void subtract_product(double* restrict a, const double* restrict left,
                             const double* restrict right) {
  for (int i = 0; i < kSide; ++i) {
    for (int k = 0; k < kSide; ++k) {
      for (int j = 0; j < kSide; ++j)
        a[i * kSide + j] -= left[i * kSide + k] * right[k * kSide + j];
    }
  }
}

// --- the matrix

static double** block_at(long row, long column) { return &g_block[row * g_blocks + column]; }

static long owner_of(long row, long column) {
  return row % g_rows * g_columns + column % g_columns;
}

// The grid of threads is as square as their number allows.
static void make_grid(void) {
  g_rows = 1;
  for (long rows = 2; rows * rows <= g_threads; ++rows) {
    if (g_threads % rows == 0) g_rows = rows;
  }
  g_columns = g_threads / g_rows;
}

static void make_blocks(void) {
  const size_t count = (size_t)(g_blocks * g_blocks), page = 4096;
  g_block = malloc(count * sizeof *g_block);
  g_digest = malloc(count * sizeof *g_digest);
  must(!g_block || !g_digest, "malloc");
  for (long thread = 0; thread < g_threads; ++thread) {
    size_t owned = 0;
    for (long b = 0; b < g_blocks * g_blocks; ++b)
      owned += owner_of(b / g_blocks, b % g_blocks) == thread;
    double* elements =
        owned ? aligned_alloc(page, (owned * kElements * sizeof(double) + page - 1) / page * page)
              : NULL;
    must(owned && !elements, "malloc");
    for (long b = 0; b < g_blocks * g_blocks; ++b) {
      if (owner_of(b / g_blocks, b % g_blocks) != thread) continue;
      g_block[b] = elements;
      elements += kElements;
    }
  }
}

static void wait_for_all(void) {
  if (!g_alone) pthread_barrier_wait(&g_barrier);
}

static void fill(long me) {
  for (long b = 0; b < g_blocks * g_blocks; ++b) {
    const long row = b / g_blocks, column = b % g_blocks;
    if (owner_of(row, column) != me) continue;
    for (long i = 0; i < kElements; ++i) {
      g_block[b][i] = element(row * kSide + i / kSide, column * kSide + i % kSide);
    }
  }
}

static void* worker(void* number) {
  const long me = (long)number;
  fill(me);
  for (long k = 0; k < g_blocks; ++k) {
    double* diagonal = *block_at(k, k);
    if (owner_of(k, k) == me)
      factor(diagonal);  // it was changed last by this thread: no barrier before
    wait_for_all();
    for (long i = k + 1; i < g_blocks; ++i) {
      if (owner_of(i, k) == me) divide_by_upper(*block_at(i, k), diagonal);
      if (owner_of(k, i) == me) divide_by_lower(*block_at(k, i), diagonal);
    }
    wait_for_all();
    for (long i = k + 1; i < g_blocks; ++i) {
      for (long j = k + 1; j < g_blocks; ++j) {
        if (owner_of(i, j) == me)
          subtract_product(*block_at(i, j), *block_at(i, k), *block_at(k, j));
      }
    }
  }
  for (long b = 0; b < g_blocks * g_blocks; ++b) {
    if (owner_of(b / g_blocks, b % g_blocks) == me)
      g_digest[b] = digest(0, g_block[b], kElements * sizeof(double));
  }
  return NULL;
}

// --- check

static double factored(long row, long column) {
  return (*block_at(row / kSide, column / kSide))[row % kSide * kSide + column % kSide];
}

// How far the solution by the factors is from the vector 1, 2, 3, 1, 2, 3... whose product with the
// matrix it was given.
static double error_of_solution(void) {
  double *solution = malloc((size_t)g_order * sizeof *solution), worst = 0;
  must(!solution, "malloc");
  for (long i = 0; i < g_order; ++i) {
    solution[i] = 0;
    for (long j = 0; j < g_order; ++j) solution[i] += element(i, j) * (double)(1 + j % 3);
  }
  for (long i = 0; i < g_order; ++i) {
    for (long j = 0; j < i; ++j) solution[i] -= factored(i, j) * solution[j];
  }
  for (long i = g_order - 1; i >= 0; --i) {
    for (long j = i + 1; j < g_order; ++j) solution[i] -= factored(i, j) * solution[j];
    solution[i] /= factored(i, i);
  }
  for (long i = 0; i < g_order; ++i) {
    const double error = fabs(solution[i] - (double)(1 + i % 3));
    if (!(error <= worst)) worst = error;
  }
  free(solution);
  return worst;
}

int main(int argc, char** argv) {
  const struct Options options = parse_options(argc, argv, NULL);
  g_alone = options.sequential;
  g_threads = g_alone ? 1 : options.threads;
  g_seed = options.seed;
  g_order = kOrders[options.size];
  g_blocks = g_order / kSide;
  make_grid();
  make_blocks();
  if (g_alone) {
    worker(NULL);
  } else {
    run_with_barrier(g_threads, worker, &g_barrier);
  }
  double determinant = 0;
  for (long i = 0; i < g_order; ++i) determinant += log(fabs(factored(i, i)));
  // The matrix is well conditioned: rounding makes some 1e-14.
  const int solved = error_of_solution() < 1e-10;
  printf("%ld by %ld, factors %016lx, logarithm of the determinant %.9f\n", g_order, g_order,
         (unsigned long)digest(0, g_digest, (size_t)(g_blocks * g_blocks) * sizeof *g_digest),
         determinant);
  printf("known system solved: %s\n", solved ? "yes" : "no");
  return !solved;
}
