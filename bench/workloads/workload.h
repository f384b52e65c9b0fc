// What the workloads share: work of a fixed number of instructions, a clock, arguments, and threads
// started and joined.
#ifndef WEIR_BENCH_WORKLOAD_H
#define WEIR_BENCH_WORKLOAD_H
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMaxThreads = 64 };

// A chain of dependent instructions, about 2 to 3 microseconds for every 1000 steps.
static inline uint64_t compute(uint64_t state, long steps) {
  for (long i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

static inline double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline long argument(int argc, char** argv, int index, long otherwise) {
  return argc > index ? atol(argv[index]) : otherwise;
}

static inline void must(int failed, const char* what) {
  if (!failed) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static inline void run_threads(long count, void* (*body)(void*)) {
  pthread_t threads[kMaxThreads];
  must(count < 1 || count > kMaxThreads, "number of threads");
  for (long i = 0; i < count; ++i)
    must(pthread_create(&threads[i], NULL, body, (void*)i), "pthread_create");
  for (long i = 0; i < count; ++i) must(pthread_join(threads[i], NULL), "pthread_join");
}

// The same with a barrier for all of them.
static inline void run_with_barrier(long count, void* (*body)(void*), pthread_barrier_t* barrier) {
  must(pthread_barrier_init(barrier, NULL, (unsigned)count), "pthread_barrier_init");
  run_threads(count, body);
}

#endif
