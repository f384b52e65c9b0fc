// Question: what does the order token cost in a bounded queue whose every item is worth a quarter
// of a millisecond of work on each side?
// Command:  producer_consumer [threads, half of them producers [milliseconds of work in all [steps
//           for an item]]]
// Figure:   wall time of the program.
#include "workload.h"

enum { kSlots = 16 };
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_filled = PTHREAD_COND_INITIALIZER, g_emptied = PTHREAD_COND_INITIALIZER;
static uint64_t g_items[kSlots], g_sum;
static long g_first, g_count, g_each, g_steps;

static void* worker(void* number) {
  uint64_t state = (uint64_t)number + 1;
  for (long i = 0; i < g_each; ++i) {
    if ((long)number % 2 == 0) {
      state = compute(state, g_steps);
      pthread_mutex_lock(&g_lock);
      while (g_count == kSlots) pthread_cond_wait(&g_emptied, &g_lock);
      g_items[(g_first + g_count++) % kSlots] = state;
      pthread_cond_signal(&g_filled);
      pthread_mutex_unlock(&g_lock);
    } else {
      pthread_mutex_lock(&g_lock);
      while (g_count == 0) pthread_cond_wait(&g_filled, &g_lock);
      const uint64_t item = g_items[g_first];
      g_first = (g_first + 1) % kSlots;
      g_count--;
      pthread_cond_signal(&g_emptied);
      pthread_mutex_unlock(&g_lock);
      __atomic_fetch_add(&g_sum, compute(item, g_steps), __ATOMIC_RELAXED);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2), milliseconds = argument(argc, argv, 2, 1500);
  g_steps = argument(argc, argv, 3, 100000);
  g_each = milliseconds * 400000 / g_steps / threads;
  must(threads % 2, "an even number of threads");
  run_threads(threads, worker);
  printf("%016lx\n", (unsigned long)g_sum);
  return 0;
}
