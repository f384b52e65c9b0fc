// Question: what does View isolated cost where threads write bands of one matrix and read two
// others?
// Pattern:  Phoenix's matrix_multiply: rows by thread, each cell the product of a row and a column
//           in the textbook's order. Threads share nothing that is written but the pages where
//           their bands meet. No event but the threads' start and end.
// Command:  matrix_multiply --threads N --size SIZE (large: 2000 rows)
// Figure:   wall time of the program.
#include "input.h"

static const long kRows[kSizes] = {96, 1000, 2000};

static int *g_a, *g_b, *g_c;
static long g_threads, g_rows;

static void* multiply_band(void* number) {
  const long n = g_rows;
  for (long i = first_of(n, (long)number, g_threads); i < first_of(n, (long)number + 1, g_threads);
       ++i)
    for (long j = 0; j < n; ++j) {
      int sum = 0;
      for (long k = 0; k < n; ++k) sum += g_a[i * n + k] * g_b[k * n + j];
      g_c[i * n + j] = sum;
    }
  return NULL;
}

// Row after row of b, times a factor, is added to a row of c.
static void multiply_all(void) {
  const long n = g_rows;
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < n; ++k)
      for (long j = 0; j < n; ++j) g_c[i * n + j] += g_a[i * n + k] * g_b[k * n + j];
}

int main(int argc, char** argv) {
  struct Options options = parse_options(argc, argv, NULL);
  g_threads = options.threads;
  g_rows = kRows[options.size];
  const size_t cells = (size_t)g_rows * (size_t)g_rows;
  g_a = malloc(cells * sizeof *g_a), g_b = malloc(cells * sizeof *g_b),
  g_c = calloc(cells, sizeof *g_c);
  must(!g_a || !g_b || !g_c, "malloc");
  for (size_t i = 0; i < cells; ++i) {
    g_a[i] = (int)(next_random(&options.seed) % 200) - 100;
    g_b[i] = (int)(next_random(&options.seed) % 200) - 100;
  }
  if (options.sequential) multiply_all();
  else run_threads(g_threads, multiply_band);
  long trace = 0;
  for (long i = 0; i < g_rows; ++i) trace += g_c[i * g_rows + i];
  printf("rows %ld, trace %ld, all %016lx\n", g_rows, trace,
         hash_bytes(kHashStart, g_c, cells * sizeof *g_c));
  return 0;
}
