// Question: what does the order token cost in phases of a millisecond, each ended by a barrier?
// Command:  barrier_phases [threads [milliseconds of work in all [steps of a phase]]]
// Figure:   wall time of the program.
#include "workload.h"

static pthread_barrier_t g_barrier;
static uint64_t g_slots[kMaxThreads * 8];
static long g_threads, g_phases, g_steps;

static void* worker(void* number) {
  const long me = (long)number;
  for (long i = 0; i < g_phases; ++i) {
    g_slots[me * 8] = compute(g_slots[me * 8] + (uint64_t)(me + i + 1), g_steps);
    pthread_barrier_wait(&g_barrier);
    const uint64_t next = g_slots[(me + 1) % g_threads * 8];
    pthread_barrier_wait(&g_barrier);
    g_slots[me * 8] ^= next;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long milliseconds = argument(argc, argv, 2, 1500);
  g_threads = argument(argc, argv, 1, 2);
  g_steps = argument(argc, argv, 3, 400000);
  g_phases = milliseconds * 400000 / g_steps / g_threads;
  run_with_barrier(g_threads, worker, &g_barrier);
  uint64_t sum = 0;
  for (long i = 0; i < g_threads; ++i) sum += g_slots[i * 8];
  printf("%016lx\n", (unsigned long)sum);
  return 0;
}
