// Question: what does one event cost where all tasks do nothing but events?
// Command:  event_cost [threads [events of each thread]]
// Figure:   nanoseconds for a round, in which each thread has one event: an atomic addition, then a
//           sched_yield.
#include <sched.h>

#include "workload.h"

static pthread_barrier_t g_barrier;
static long g_counter, g_events;
static double g_start[2], g_end[2];

static void* worker(void* number) {
  for (int kind = 0; kind < 2; ++kind) {
    pthread_barrier_wait(&g_barrier);
    if (!number) g_start[kind] = now_ns();
    for (long i = 0; i < g_events; ++i) {
      if (kind) {
        sched_yield();
      } else {
        __atomic_fetch_add(&g_counter, 1, __ATOMIC_SEQ_CST);
      }
    }
    pthread_barrier_wait(&g_barrier);
    if (!number) g_end[kind] = now_ns();
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2);
  g_events = argument(argc, argv, 2, 20000);
  run_with_barrier(threads, worker, &g_barrier);
  printf("atomic_add %.1f\nsched_yield %.1f\n", (g_end[0] - g_start[0]) / (double)g_events,
         (g_end[1] - g_start[1]) / (double)g_events);
  return 0;
}
