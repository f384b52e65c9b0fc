// Two bit fields of one word have a lock each.
#include "twin.h"

static struct {
  unsigned ready : 1, full : 1, size : 20;
} state;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void* set_ready(void* unused) {
  pthread_mutex_lock(&one);
  state.ready = 1;  // RACE
  pthread_mutex_unlock(&one);
  return unused;
}

static void* set_size(void* unused) {
  pthread_mutex_t* const lock = RACY ? &other : &one;
  pthread_mutex_lock(lock);
  state.size = 77;  // RACE
  pthread_mutex_unlock(lock);
  return unused;
}

int main(void) {
  run_two(set_ready, set_size);
  use(state.full);
  return 0;
}
