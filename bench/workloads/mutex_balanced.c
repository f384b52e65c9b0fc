// Question: what does the order token cost where equal workers each take a mutex every quarter of a
// millisecond?
// Command:  mutex_balanced [threads [milliseconds of work in all [steps between locks]]]
// Figure:   wall time of the program. On two processors it makes about 8,000 lock-unlock pairs a
//           second.
#include "workload.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t g_sum;
static long g_rounds, g_steps;

static void* worker(void* number) {
  uint64_t state = (uint64_t)number + 1;
  for (long i = 0; i < g_rounds; ++i) {
    state = compute(state, g_steps);
    pthread_mutex_lock(&g_lock);
    g_sum += state;
    pthread_mutex_unlock(&g_lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2), milliseconds = argument(argc, argv, 2, 1500);
  g_steps = argument(argc, argv, 3, 100000);
  g_rounds = milliseconds * 400000 / g_steps / threads;
  run_threads(threads, worker);
  printf("%016lx\n", (unsigned long)g_sum);
  return 0;
}
