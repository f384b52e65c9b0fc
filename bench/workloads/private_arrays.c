// Question: what does View isolated cost where each thread works over an array of its own and
// shares one sum at the end?
// Command:  private_arrays [threads [megabytes for each thread [passes]]]
// Figure:   wall time of the program.
#include "workload.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static double g_sum;
static long g_elements, g_passes;

static void* worker(void* number) {
  double* array = malloc((size_t)g_elements * sizeof *array);
  must(!array, "malloc");
  for (long i = 0; i < g_elements; ++i) array[i] = (double)(i % 1000) + (double)(long)number;
  for (long pass = 0; pass < g_passes; ++pass)
    for (long i = 1; i < g_elements; ++i) array[i] = (array[i] * 0.5 + array[i - 1]) * 0.75 + 1;
  double sum = 0;
  for (long i = 0; i < g_elements; ++i) sum += array[i];
  free(array);
  pthread_mutex_lock(&g_lock);
  g_sum += sum;
  pthread_mutex_unlock(&g_lock);
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2);
  g_elements = argument(argc, argv, 2, 8) << 17;
  g_passes = argument(argc, argv, 3, 150);
  run_threads(threads, worker);
  printf("%g\n", g_sum);
  return 0;
}
