// usage: random_program SEED [THREADS [STEPS [ACTION...]]]   only these are drawn; -ACTION: all but
// these. TELL in the environment: says on standard error what each thread does.
#include <sys/stat.h>

#include "random_program.h"

char g_slots[kPages][kPageBytes] __attribute__((aligned(kPageBytes)));
char g_folder[64];

enum { kMostActions = 128, kPhase = 8 };
static const struct named_action* g_actions[kMostActions];
static unsigned g_action_count;
static unsigned g_steps;
static uint64_t g_seed;
static pthread_barrier_t g_phase;
static uint64_t g_sums[kMostThreads];
static int g_tells;

static void add_actions(const struct named_action* actions, char** only, int count) {
  for (; actions->name; ++actions) {
    int is_wanted = !count || only[0][0] == '-';
    for (int i = 0; i < count; ++i) {
      if (!strcmp(only[i], actions->name)) is_wanted = 1;
      if (only[i][0] == '-' && !strcmp(only[i] + 1, actions->name)) is_wanted = 0;
    }
    if (is_wanted) g_actions[g_action_count++] = actions;
  }
}

static void* work(void* number) {
  struct worker w = {
      .number = (int)(long)number,
      .state = (g_seed * kMostThreads + (uint64_t)(long)number + 1) * UINT64_C(0x9e3779b97f4a7c15)};
  for (int i = 0; i < 4; ++i) draw(&w);
  for (unsigned step = 0; step < g_steps; ++step) {
    if (step % kPhase == 0) pthread_barrier_wait(&g_phase);
    const struct named_action* const chosen = g_actions[below(&w, g_action_count)];
    if (g_tells) fprintf(stderr, "%d: %s\n", w.number, chosen->name);
    w.sum = w.sum * 31 + chosen->act(&w);
  }
  g_sums[w.number] = w.sum;
  return NULL;
}

int main(int argc, char** argv) {
  g_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int threads = argument(argc, argv, 2, 3);
  g_steps = (unsigned)argument(argc, argv, 3, 24);
  CHECK(threads > 0 && threads <= kMostThreads);
  g_tells = getenv("TELL") != NULL;
  const struct named_action* const all[] = {g_sync_actions, g_memory_actions, g_call_actions,
                                            g_signal_actions, g_process_actions};
  for (unsigned i = 0; i < sizeof all / sizeof all[0]; ++i)
    add_actions(all[i], argv + 4, argc > 4 ? argc - 4 : 0);
  CHECK(g_action_count > 0);
  snprintf(g_folder, sizeof g_folder, "/tmp/weir-random-%d", (int)getpid());
  CHECK_EQ(mkdir(g_folder, 0700), 0);
  CHECK_EQ(pthread_barrier_init(&g_phase, NULL, (unsigned)threads), 0);
  run_threads(threads, work);
  CHECK_EQ(rmdir(g_folder), 0);
  for (int i = 0; i < threads; ++i) printf("%016llx\n", (unsigned long long)g_sums[i]);
  return 0;
}
