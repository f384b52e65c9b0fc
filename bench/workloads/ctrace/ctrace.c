// A program that traces itself by a library like ctrace (trace.h), and does little else: its
// threads take jobs, each job registers its thread under the job's name, computes a little in
// nested functions with trace points at entry, exit and in between, and turns its level up and
// down.
// Sharing: one lock over a hash table of threads and a buffer of lines. Every trace point takes it,
// those too that
//          write nothing, and changes an entry of the table, the buffer and a few counters: always
//          the same few pages.
// Policies: all that the lock guards is locked by it, threads' entries too from when they are
// registered; trace_close() takes it.
// Result:  number of lines and a sum of them, which does not depend on their order. With --file
//          lines go to a file, which is read again: they must be numbered without a gap, and give
//          the same number and sum.
// Source:  a benchmark of PUSh (MICRO 2019), sections 3.2 and 4: ctrace-1.2, which prints
//          32,000,000 records. As there, lines are not printed, without --file.
// Sizes:   large has about 32,000,000 lines.
#include <stdio.h>
#include <weir/weir.h>

#include "../options.h"
#include "../random.h"
#include "../workload.h"
#include "trace.h"

enum { kUnitWork = 1, kUnitSearch = 2, kUnitRare = 4, kMaxDepth = 3 };
static const struct {
  long jobs, steps;  // a step writes about 4.3 lines
} kSizeOf[kSizes] = {{24, 10}, {400, 800}, {1600, 4620}};

static struct Options g_options;

static uint64_t search(struct Random* random, int depth) {
  trace_point(kTraceCall, kUnitSearch, "search", "enter, depth %d", depth);
  uint64_t found = random_bits(random);
  if (depth < kMaxDepth && found >> 62) found ^= search(random, depth + 1);
  trace_point(kTraceDetail, kUnitRare, "search", "looks at %016lx", found);
  trace_point(kTraceCall, kUnitSearch, "search", "leave, depth %d, found %lu", depth, found % 1000);
  return found;
}

static void run_job(long job) {
  struct Random random = random_stream(g_options.seed, (uint64_t)job);
  char name[24];
  snprintf(name, sizeof name, "job-%ld", job);
  trace_add_thread(name, kTraceCall,
                   kUnitWork | (job % 4 ? kUnitSearch : 0) | (job % 3 ? 0 : kUnitRare));
  for (long step = 0; step < kSizeOf[g_options.size].steps; ++step) {
    if (step % 10 == 3) trace_set_level(kTraceDetail);
    if (step % 10 == 6) trace_set_level(kTraceError);
    if (step % 10 == 7) trace_set_level(kTraceCall);
    const uint64_t found = search(&random, 0);
    trace_point(kTraceDetail, kUnitWork, "run_job", "step %ld of %ld", step,
                kSizeOf[g_options.size].steps);
    if (found % 16 == 0)
      trace_point(kTraceError, kUnitWork, "run_job", "step %ld has found %lu", step, found);
  }
  trace_remove_thread();
}

static void* worker(void* number) {
  const long jobs = kSizeOf[g_options.size].jobs;
  for (long job = (long)number; job < jobs; job += g_options.threads) run_job(job);
  return NULL;
}

static struct TraceTotals read_again(FILE* file) {
  struct TraceTotals totals = {0, 0};
  char line[kTraceLine + 32];
  rewind(file);
  while (fgets(line, sizeof line, file)) {
    char* rest;
    must(strtol(line, &rest, 10) != ++totals.lines, "numbering of lines");
    totals.sum += trace_sum_line(rest + 1, (long)strlen(rest + 1) - 1);
  }
  return totals;
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--file", NULL};
  g_options = parse_options(argc, argv, extra);
  weir_set_sticky_read(&g_options);
  FILE* file = NULL;
  if (has_option(argc, argv, "--file")) must(!(file = tmpfile()), "tmpfile");
  trace_open(file ? fileno(file) : -1);
  if (g_options.sequential) {
    for (long job = 0; job < kSizeOf[g_options.size].jobs; ++job) run_job(job);
  } else {
    run_threads(g_options.threads, worker);
  }
  const struct TraceTotals totals = trace_close();
  printf("%ld lines, sum %016lx\n", totals.lines, totals.sum);
  if (file) {
    const struct TraceTotals again = read_again(file);
    must(again.lines != totals.lines || again.sum != totals.sum, "reading the lines again");
    printf("the file has the same\n");
  }
  return 0;
}
