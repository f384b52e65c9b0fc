// Question: what do locks cost that no two tasks want at once: 0 a mutex that one task alone uses,
// 1 a stream that one task alone writes, 2 one of many mutexes that all use? Command:  lock_kinds
// [threads [thousands of sections a thread]] Figure:   microseconds for a section of each kind;
// weir stat shows the events.
#include "workload.h"

enum { kStripes = 256 };
static struct {
  pthread_mutex_t lock;
  long value;
  char apart[72];
} g_own[kMaxThreads], g_stripes[kStripes];
static FILE* g_streams[kMaxThreads];
static long g_sections;
static int g_kind;

static void* sections(void* number) {
  const long me = (long)number;
  uint64_t random = (uint64_t)me + 1;
  for (long i = 0; i < g_sections; ++i) {
    random = compute(random, 100);
    if (g_kind == 1) {
      fprintf(g_streams[me], "line %ld\n", i);
      continue;
    }
    const long which = g_kind ? (long)(random % kStripes) : me;
    pthread_mutex_lock(g_kind ? &g_stripes[which].lock : &g_own[which].lock);
    if (g_kind) {
      g_stripes[which].value++;
    } else {
      g_own[which].value++;
    }
    pthread_mutex_unlock(g_kind ? &g_stripes[which].lock : &g_own[which].lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const long threads = argument(argc, argv, 1, 4);
  g_sections = argument(argc, argv, 2, 2) * 1000;
  for (int i = 0; i < kMaxThreads; ++i) pthread_mutex_init(&g_own[i].lock, NULL);
  for (int i = 0; i < kStripes; ++i) pthread_mutex_init(&g_stripes[i].lock, NULL);
  for (long i = 0; i < threads && i < kMaxThreads; ++i)
    must(!(g_streams[i] = tmpfile()), "tmpfile");
  for (g_kind = 0; g_kind < 3; ++g_kind) {
    const double start = now_ns();
    run_threads(threads, sections);
    printf("%d %.2f\n", g_kind, (now_ns() - start) / 1000 / (double)g_sections);
  }
  return 0;
}
