// The clients: processes that each have one connection at a time and one request on it, and look at
// every byte.
#ifndef WEIR_BENCH_WEBSERVER_CLIENT_H
#define WEIR_BENCH_WEBSERVER_CLIENT_H
#include <stddef.h>
#include <stdint.h>

struct Plan {
  int port;
  uint64_t seed;
  long documents, clients, requests;  // requests: of each client
  long stay;                          // requests of one connection
  int plain;                          // nothing but GET of the first document
};

// Sums over requests; all depend on the plan alone.
struct Answers {
  long requests, ok, bad, forbidden, missing, refused;
  size_t bytes;
  uint64_t sum;
};

// Ends the process if an answer is not what it should be.
struct Answers run_clients(const struct Plan* plan);

#endif
