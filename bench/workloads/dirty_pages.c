// Question: what does a page cost that a thread writes between two barriers, one word of it or all
// of it?
// Command:  dirty_pages [threads [pages of each thread [phases]]]
// Figure:   nanoseconds for a page of one thread (a phase divided by the pages of one thread).
#include "workload.h"

enum { kPage = 4096 };
static pthread_barrier_t g_barrier;
static char* g_memory;
static long g_pages, g_phases;
static double g_start[2], g_end[2];

static void* worker(void* number) {
  char* mine = g_memory + (long)number * g_pages * kPage;
  for (int kind = 0; kind < 2; ++kind) {
    pthread_barrier_wait(&g_barrier);
    if (!number) g_start[kind] = now_ns();
    for (long phase = 0; phase < g_phases; ++phase) {
      for (long page = 0; page < g_pages; ++page) {
        if (kind) {
          memset(mine + page * kPage, (int)(phase + page + 1), kPage);
        } else {
          *(long*)(mine + page * kPage) = phase + page + 1;
        }
      }
      pthread_barrier_wait(&g_barrier);
    }
    if (!number) g_end[kind] = now_ns();
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 2);
  g_pages = argument(argc, argv, 2, 256);
  g_phases = argument(argc, argv, 3, 200);
  must(pthread_barrier_init(&g_barrier, NULL, (unsigned)threads), "pthread_barrier_init");
  g_memory = aligned_alloc(kPage, (size_t)(threads * g_pages * kPage));
  must(!g_memory, "aligned_alloc");
  memset(g_memory, 0, (size_t)(threads * g_pages * kPage));
  run_threads(threads, worker);
  const double pages = (double)(g_phases * g_pages);
  printf("one_word %.1f\nwhole_page %.1f\n", (g_end[0] - g_start[0]) / pages,
         (g_end[1] - g_start[1]) / pages);
  return 0;
}
