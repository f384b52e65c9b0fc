// The server: a queue of accepted connections, workers that each serve one connection at a time
// until it ends.
#ifndef WEIR_BENCH_WEBSERVER_SERVER_H
#define WEIR_BENCH_WEBSERVER_SERVER_H
#include <stddef.h>

struct Served {
  long requests, failures;  // failures: answers with a status of 400 and above
  size_t bytes;             // of bodies sent
};

// Serves the folder `root` on the listening socket until `until` can be read or has ended;
// `threads` 0: in this thread, one connection after another.
struct Served serve(int listener, int until, const char* root, int threads);

#endif
