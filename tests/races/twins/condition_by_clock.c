// A wait with a limit by another clock.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void* body(void* unused) {
  if (!RACY) data = 2;
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += 5;
  pthread_t thread = start(body, NULL);
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &limit);
  pthread_mutex_unlock(&mutex);
  use(data);  // RACE
  join(thread);
  return 0;
}
