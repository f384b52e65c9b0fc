// A cache for other programs, like memcached, and YCSB to load it, which is processes of its own.
// Sharing: each worker waits for its own connections by epoll and gets new ones from main by a
// queue and a pipe. The
//          table of items has a lock for each group of buckets, each class of sizes a list by age
//          of use with its own lock, the slabs have one lock, each worker's counts another. Values
//          are sent from where they lie, without a lock: a count of references keeps them. Under
//          eviction locks are tried against their order.
// Result:  operations, a sum of the values written, records verified. Clients look at every byte,
//          and at whether some order of all operations explains what they read (ycsb.c); before and
//          after, commands and eviction are gone through. Operations a second go to standard error.
// Source:  a benchmark of PUSh (MICRO 2019), section 4: memcached-1.2.2 with YCSB, workloads A and
//          B.
// Sizes:   large is that: 100,000 records of 1 KB, 2,000,000 operations.
// Options: --workload a|b (half of the operations are updates, or one in twenty), --records,
// --operations, --clients,
//          --memory MB that items may take (else what they need; with less, clients miss records
//          and say so); --serve: the server alone, until its standard input ends; --client: the
//          clients alone; both with --port P (--serve without: any, said on standard error).
//          --sequential: one thread.
#include "../options.h"
#include "../processes.h"
#include "../sockets.h"
#include "items.h"
#include "server.h"
#include "ycsb.h"

static const struct {
  long records, operations, clients;
} kSizeOf[kSizes] = {{120, 400, 4}, {4000, 30000, 8}, {100000, 2000000, 16}};
static struct Plan g_plan;

static void clients(long number, void* outcome) {
  (void)number;
  check_commands(g_plan.port);
  *(struct Outcome*)outcome = run_ycsb(&g_plan);
  check_eviction(g_plan.port, g_plan.clients);
}

static void print(const struct Outcome* outcome) {
  printf("workload %c: %ld reads, %ld updates, counted %lu, sum %016lx, %lu records verified\n",
         g_plan.workload, outcome->reads, outcome->updates, outcome->counter, outcome->sum,
         outcome->verified);
}

int main(int argc, char** argv) {
  static const char* const extra[] = {"--workload=", "--records=", "--operations=",
                                      "--clients=",  "--memory=",  "--serve",
                                      "--client",    "--port=",    NULL};
  const struct Options options = parse_options(argc, argv, extra);
  const char* workload = option_value(argc, argv, "--workload", "a");
  must(strcmp(workload, "a") && strcmp(workload, "b"), "--workload, which is a or b,");
  g_plan = (struct Plan){
      .port = (int)option_number(argc, argv, "--port", 0),
      .workload = *workload,
      .seed = options.seed,
      .records = option_number(argc, argv, "--records", kSizeOf[options.size].records),
      .operations = option_number(argc, argv, "--operations", kSizeOf[options.size].operations),
      .clients = option_number(argc, argv, "--clients", kSizeOf[options.size].clients)};
  must(g_plan.records < 2 || g_plan.records > 1 << 30, "--records, 2 to 1073741824,");
  must(g_plan.clients < 1 || g_plan.clients > kMaxThreads, "--clients, 1 to 64,");
  struct Outcome outcome;
  if (has_option(argc, argv, "--client")) {
    clients(0, &outcome);
    print(&outcome);
    return 0;
  }
  // Records with a quarter more for what a class leaves unused, and a few slabs for everything
  // else.
  const long needed = (g_plan.records * (kValue + 200) * 5 / 4 >> 20) + 3;
  items_open((size_t)option_number(argc, argv, "--memory", needed) << 20);
  const int threads = options.sequential ? 0 : options.threads;
  const int listener = listen_loopback(&g_plan.port);
  if (has_option(argc, argv, "--serve")) {
    fprintf(stderr, "port %d\n", g_plan.port);
    serve(listener, STDIN_FILENO, threads);
    const struct ItemStats stats = items_stats();
    printf("%lu items of %lu bytes, %lu pushed out\n", stats.items, stats.bytes, stats.evictions);
    return 0;
  }
  const struct Child child = start_child(clients, 0, sizeof outcome, listener);
  serve(listener, child.results, threads);
  finish_child(child, &outcome, sizeof outcome);
  print(&outcome);
  return 0;
}
