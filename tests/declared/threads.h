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
/* When all threads have been made: that orders them. */
static inline void soon(void) { usleep(30000); }
/* Long enough for all others to have done what they have to do, and ordering nothing. */
static inline void later(void) { usleep(120000); }
static inline int ok(void) {
  puts("ok");
  return 0;
}

#endif
