// What every test program shares: a check that ends the whole program with status 1, and N threads
// started and joined.
#ifndef WEIR_TESTS_PROGRAM_H
#define WEIR_TESTS_PROGRAM_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void check_failed(const char* what, long long got, long long want, const char* file,
                                int line) {
  fprintf(stderr, "%s:%d: failed: %s (got %lld, want %lld, errno %d)\n", file, line, what, got,
          want, errno);
  _exit(1);
}

// Both end the program, in whichever thread or forked child they fail.
#define CHECK(condition) \
  ((condition) ? (void)0 : check_failed(#condition, 0, 1, __FILE__, __LINE__))
#define CHECK_EQ(got, want) \
  check_eq((long long)(got), (long long)(want), #got " == " #want, __FILE__, __LINE__)

static inline void check_eq(long long got, long long want, const char* what, const char* file,
                            int line) {
  if (got != want) check_failed(what, got, want, file, line);
}

// Waits for the child, which must leave with status 0.
#define CHECK_CHILD(child) check_child(child, __FILE__, __LINE__)

static inline void check_child(pid_t child, const char* file, int line) {
  int status = 1;
  check_eq(waitpid(child, &status, 0), child, "waitpid", file, line);
  check_eq(status, 0, "status of the child", file, line);
}

// The argument at `index`, or `otherwise` where the command line is shorter.
static inline int argument(int argc, char** argv, int index, int otherwise) {
  return argc > index ? atoi(argv[index]) : otherwise;
}

enum { kMaxThreads = 256 };

// Runs `body` in `count` threads, each given its number 0 .. count-1 as its argument, and joins
// them in that order.
static inline void run_threads(int count, void* (*body)(void*)) {
  pthread_t threads[kMaxThreads];
  CHECK(count > 0 && count <= kMaxThreads);
  for (long i = 0; i < count; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < count; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

// The time `milliseconds` from now on `clock`.
static inline struct timespec time_in(clockid_t clock, long milliseconds) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += milliseconds % 1000 * 1000000;
  t.tv_sec += milliseconds / 1000 + t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return t;
}

static inline void sleep_ms(long milliseconds) {
  struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&t, &t) == -1 && errno == EINTR) {}
}

#endif
