// The server's threads: main accepts and hands connections round; each worker waits for its own by
// epoll.
#ifndef WEIR_BENCH_CACHE_SERVER_H
#define WEIR_BENCH_CACHE_SERVER_H

// Serves on the listening socket until `until` can be read or has ended. `threads` 0: all in this
// thread.
void serve(int listener, int until, int threads);

#endif
