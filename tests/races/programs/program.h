// What nearly every program of tests/races needs. Nothing here synchronizes but start and join.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void* (*Body)(void*);

static inline pthread_t start(Body body, void* argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, argument) != 0) abort();
  return thread;
}

static inline void join(pthread_t thread) {
  if (pthread_join(thread, NULL) != 0) abort();
}

static inline void run_two(Body first, Body second) {
  pthread_t one = start(first, NULL), two = start(second, NULL);
  join(one);
  join(two);
}

// Lets the other threads get ahead, and orders nothing.
static inline void pause_ms(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }

// The compiler must compute the value and may not merge accesses around it.
static inline void use(long value) { __asm__ volatile("" : : "r"(value) : "memory"); }
