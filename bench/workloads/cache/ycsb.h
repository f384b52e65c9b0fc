// The clients of the cache.
#ifndef WEIR_BENCH_CACHE_YCSB_H
#define WEIR_BENCH_CACHE_YCSB_H
#include <stddef.h>
#include <stdint.h>

struct Plan {
  int port;
  char workload;  // 'a': half of the operations are updates; 'b': one in twenty
  uint64_t seed;
  long records, operations, clients;
};

enum { kValue = 1000 };  // ten fields of 100 bytes

struct Outcome {
  long reads, updates;
  uint64_t counter, verified;  // by incr; records as they were found in the end
  uint64_t sum;                // of all values that were written
};

// Loads the records, runs the operations, verifies all records. All that it returns depends on the
// plan alone. Ends the process if the cache has answered anything that no order of the operations
// can explain.
struct Outcome run_ycsb(const struct Plan* plan);

// --- what both programs of requests use

struct Stream;
// Sends a request and ends the process if the answer is not this.
void converse(struct Stream* stream, const char* request, const char* answer);

// Goes through the commands one by one, on two connections, before there are records.
void check_commands(int port);
// Sets values of 60 KB until old ones have to go, and looks at which these are; then does so from
// many clients at once.
void check_eviction(int port, long clients);

#endif
