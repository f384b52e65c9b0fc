// Question: what does View isolated cost where threads read a shared buffer, count into buckets of
// their own and add them up under a mutex once for every chunk of a megabyte?
// Command:  histogram_private [threads [megabytes [passes]]]
// Figure:   wall time of the program.
#include "workload.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static long g_buckets[256], g_threads, g_bytes, g_passes;
static unsigned char* g_input;

static void* worker(void* number) {
  const long chunk = 1 << 20;
  for (long pass = 0; pass < g_passes; ++pass) {
    for (long start = (long)number * chunk; start < g_bytes; start += g_threads * chunk) {
      long buckets[256] = {0};
      for (long i = start; i < start + chunk; ++i) buckets[g_input[i]]++;
      pthread_mutex_lock(&g_lock);
      for (int i = 0; i < 256; ++i) g_buckets[i] += buckets[i];
      pthread_mutex_unlock(&g_lock);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  g_threads = argument(argc, argv, 1, 2);
  g_bytes = argument(argc, argv, 2, 64) << 20;
  g_passes = argument(argc, argv, 3, 16);
  g_input = malloc((size_t)g_bytes);
  must(!g_input, "malloc");
  uint64_t state = 1;
  for (long i = 0; i < g_bytes; i += 8) {
    state = compute(state, 1);
    memcpy(g_input + i, &state, 8);
  }
  run_threads(g_threads, worker);
  long mix = 0;
  for (int i = 0; i < 256; ++i) mix = mix * 31 + g_buckets[i];
  printf("%ld\n", mix);
  return 0;
}
