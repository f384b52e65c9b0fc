// Question: the same as mutex_balanced, where the workers are not equal: worker i computes 1 + i %
// 4 times as long between its locks as worker 0, and every length varies by half at random.
// Command:  mutex_imbalanced [threads [milliseconds of work in all [shortest steps between locks]]]
// Figure:   wall time of the program. A fixed order makes the fast wait for the slow: this is its
//           honest worst case.
#include "workload.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t g_sum;
static long g_steps, g_share;

static void* worker(void* number) {
  uint64_t state = (uint64_t)number * 977 + 1;
  const long mean = g_steps * (1 + (long)number % 4);
  for (long done = 0; done < g_share;) {
    const long steps = mean / 2 + (long)(state % (uint64_t)mean);
    state = compute(state, steps);
    done += steps;
    pthread_mutex_lock(&g_lock);
    g_sum += state;
    pthread_mutex_unlock(&g_lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2), milliseconds = argument(argc, argv, 2, 1500);
  g_steps = argument(argc, argv, 3, 100000);
  g_share = milliseconds * 400000 / threads;
  run_threads(threads, worker);
  printf("%016lx\n", (unsigned long)g_sum);
  return 0;
}
