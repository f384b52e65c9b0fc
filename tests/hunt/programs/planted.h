// What the planted programs have in common. Each has a bug that some schedule shows, by another
// exit status, a signal or a deadlock; compiled with -DFIXED it has none.
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FIXED
#define FIX(...) __VA_ARGS__
#define BUG(...)
#else
#define FIX(...)
#define BUG(...) __VA_ARGS__
#endif

#define REQUIRE(condition)                                                      \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                 \
    }                                                                           \
  } while (0)

typedef void* (*Body)(void*);

// Starts the threads, in this order, and waits for them. The argument is each one's number.
static inline void run_threads(int count, const Body* bodies) {
  pthread_t threads[128];
  for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, bodies[i], (void*)i);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}
// So many threads of each of two kinds, those of the first before the others.
static inline void run_many(int first, Body a, int second, Body b) {
  Body bodies[128];
  for (int i = 0; i < first + second; i++) bodies[i] = i < first ? a : b;
  run_threads(first + second, bodies);
}
#define RUN(...)                                                  \
  do {                                                            \
    const Body bodies[] = {__VA_ARGS__};                          \
    run_threads((int)(sizeof bodies / sizeof bodies[0]), bodies); \
  } while (0)

// Two sections of one lock, or one: the usual wrong and right way.
static pthread_mutex_t g_lock __attribute__((unused)) = PTHREAD_MUTEX_INITIALIZER;
static inline void lock(void) { pthread_mutex_lock(&g_lock); }
static inline void unlock(void) { pthread_mutex_unlock(&g_lock); }
