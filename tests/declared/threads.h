/* What the programs here have in common. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weir/weir.h>

typedef void *(*body)(void *);

static inline pthread_t begin(body run, void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument)) exit(3);
  return thread;
}
static inline void end(pthread_t thread) { pthread_join(thread, NULL); }
static inline void alone(body run, void *argument) { end(begin(run, argument)); }
/* In an emulated machine, where all takes long: threads wait longer there, and do less. */
static inline int is_emulated(void) { return getenv("EMULATED") != NULL; }
static inline int times(int most) { return is_emulated() ? most / 10 : most; }
static inline void pass(int microseconds) { usleep(is_emulated() ? microseconds * 3 : microseconds); }
/* When all threads have been made: that orders them. */
static inline void soon(void) { pass(30000); }
/* Long enough for all others to have done what they have to do, and ordering nothing. */
static inline void later(void) { pass(120000); }
static inline int ok(void) {
  puts("ok");
  return 0;
}

#endif
