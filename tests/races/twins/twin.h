// What the twins need: each file of this folder is compiled twice, as a racy program (RACY is 1)
// and as a clean one (RACY is 0).
#pragma once

#include "../programs/program.h"

// The lock that the racy twin forgets.
static inline void guard(pthread_mutex_t* mutex) {
  if (!RACY) pthread_mutex_lock(mutex);
}

static inline void unguard(pthread_mutex_t* mutex) {
  if (!RACY) pthread_mutex_unlock(mutex);
}

// `count` threads, at most 8, each with its number as argument, from the start to the join.
static inline void run_threads(int count, Body body) {
  pthread_t threads[8];
  for (long i = 0; i < count; ++i) threads[i] = start(body, (void*)i);
  for (int i = 0; i < count; ++i) join(threads[i]);
}
