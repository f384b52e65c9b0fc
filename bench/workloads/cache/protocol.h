// Memcached's text protocol on one connection, which never waits.
#ifndef WEIR_BENCH_CACHE_PROTOCOL_H
#define WEIR_BENCH_CACHE_PROTOCOL_H
#include <pthread.h>
#include <stdint.h>

// What one worker's connections have done. Read by all workers, for `stats`.
struct Counts {
  pthread_mutex_t lock;
  uint64_t gets, hits, sets, deletes, adds;  // Guarded by: lock
};

struct Connection* connection_open(int socket, struct Counts* counts);
int connection_socket(const struct Connection* connection);
void connection_close(struct Connection* connection);

enum Wait { kWaitRead, kWaitWrite, kEnded };
// Receives, executes and answers as far as it goes, and says what it waits for then.
enum Wait connection_go(struct Connection* connection);

// Sums over all workers; of the program that has them.
struct Counts all_counts(void);

#endif
