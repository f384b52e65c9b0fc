// Question: what does View isolated cost where threads write bands of one matrix and read two others?
// Command:  matrix_multiply [threads [rows]]
// Figure:   wall time of the program.
#include "workload.h"

static float *g_a, *g_b, *g_c;
static long g_threads, g_rows;

static void* worker(void* number) {
  const long n = g_rows;
  for (long i = n * (long)number / g_threads; i < n * ((long)number + 1) / g_threads; ++i)
    for (long k = 0; k < n; ++k) {
      const float factor = g_a[i * n + k];
      for (long j = 0; j < n; ++j) g_c[i * n + j] += factor * g_b[k * n + j];
    }
  return NULL;
}

int main(int argc, char** argv) {
  g_threads = argument(argc, argv, 1, 2);
  g_rows = argument(argc, argv, 2, 1200);
  const size_t cells = (size_t)g_rows * (size_t)g_rows;
  g_a = malloc(cells * sizeof *g_a), g_b = malloc(cells * sizeof *g_b), g_c = calloc(cells, sizeof *g_c);
  must(!g_a || !g_b || !g_c, "malloc");
  for (size_t i = 0; i < cells; ++i) g_a[i] = (float)(i % 7), g_b[i] = (float)(i % 5);
  run_threads(g_threads, worker);
  double trace = 0;
  for (long i = 0; i < g_rows; ++i) trace += (double)g_c[i * g_rows + i];
  printf("%g\n", trace);
  return 0;
}
