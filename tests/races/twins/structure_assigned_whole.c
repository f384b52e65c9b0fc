// A whole structure is assigned while another thread changes a member under another lock.
#include "twin.h"

struct state {
  int a, b, c[6];
};
static struct state state, fresh;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void* reset(void* unused) {
  pthread_mutex_lock(&one);
  state = fresh;  // RACE
  pthread_mutex_unlock(&one);
  return unused;
}

static void* change(void* unused) {
  pthread_mutex_t* const lock = RACY ? &other : &one;
  pthread_mutex_lock(lock);
  state.c[4]++;  // RACE
  pthread_mutex_unlock(lock);
  return unused;
}

int main(void) {
  run_two(reset, change);
  use(state.a);
  return 0;
}
