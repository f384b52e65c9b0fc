// Question: what does a run cost where threads take a row at a time from a counter under a lock?
// Pattern:  Phoenix's pca: first the mean of each row, then the covariance of each pair of rows. In
//           both a thread takes the lock, the next row and works on it: sections of an instruction,
//           then work of falling length (the last row, which has the most pairs, is the first).
//           Each row writes cells of its own alone, the triangle of the symmetric matrix: few pages
//           between two sections, each written once in the run but where rows share it.
// Command:  pca --threads N --size SIZE (large: 4000 rows and columns, numbers under 100)
// Figure:   wall time of the program.
#include "input.h"

enum { kUnder = 100 };

static const long kRows[kSizes] = {64, 1300, 4000};

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static long g_next, g_rows;
static int *g_matrix, *g_means;
static int* g_covariance;  // of rows i and j where j <= i

// The last row first; negative after all.
static long take_row(void) {
  pthread_mutex_lock(&g_lock);
  const long row = --g_next;
  pthread_mutex_unlock(&g_lock);
  return row;
}

static void* find_means(void* number) {
  for (long i; (i = take_row()) >= 0;) {
    int sum = 0;
    for (long k = 0; k < g_rows; ++k) sum += g_matrix[i * g_rows + k];
    g_means[i] = sum / (int)g_rows;
  }
  return number;
}

static void* find_covariances(void* number) {
  for (long i; (i = take_row()) >= 0;)
    for (long j = 0; j <= i; ++j) {
      const int *one = g_matrix + i * g_rows, *two = g_matrix + j * g_rows;
      int sum = 0;
      for (long k = 0; k < g_rows; ++k) sum += (one[k] - g_means[i]) * (two[k] - g_means[j]);
      g_covariance[i * g_rows + j] = sum / (int)(g_rows - 1);
    }
  return number;
}

static void find_all(void) {
  const long n = g_rows;
  for (long i = 0; i < n; ++i) {
    int sum = 0;
    for (long k = 0; k < n; ++k) sum += g_matrix[i * n + k];
    g_means[i] = sum / (int)n;
  }
  for (long i = 0; i < n; ++i)
    for (long j = i; j < n; ++j) {
      int sum = 0;
      for (long k = 0; k < n; ++k)
        sum += (g_matrix[i * n + k] - g_means[i]) * (g_matrix[j * n + k] - g_means[j]);
      g_covariance[j * n + i] = sum / (int)(n - 1);
    }
}

int main(int argc, char** argv) {
  struct Options options = parse_options(argc, argv, NULL);
  g_rows = kRows[options.size];
  const size_t cells = (size_t)g_rows * (size_t)g_rows;
  g_matrix = malloc(cells * sizeof *g_matrix), g_covariance = calloc(cells, sizeof *g_covariance);
  g_means = malloc((size_t)g_rows * sizeof *g_means);
  must(!g_matrix || !g_covariance || !g_means, "malloc");
  for (size_t i = 0; i < cells; ++i) g_matrix[i] = (int)(next_random(&options.seed) % kUnder);
  if (options.sequential) {
    find_all();
  } else {
    g_next = g_rows;
    run_threads(options.threads, find_means);
    g_next = g_rows;
    run_threads(options.threads, find_covariances);
  }
  long trace = 0;
  for (long i = 0; i < g_rows; ++i) trace += g_covariance[i * g_rows + i];
  printf("rows %ld, means %016lx, trace %ld, covariance %016lx\n", g_rows,
         hash_bytes(kHashStart, g_means, (size_t)g_rows * sizeof *g_means), trace,
         hash_bytes(kHashStart, g_covariance, cells * sizeof *g_covariance));
  return 0;
}
