// Two bit fields share a word; one is changed under the lock, the other without it.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
  unsigned open : 1, dirty : 1, level : 6;
#if !RACY
  unsigned : 0;
#endif
  unsigned pages : 12;
} state;

static void* opener(void* unused) {
  pthread_mutex_lock(&mutex);
  state.level = 5;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* pager(void* unused) {
  state.pages = 77;  // RACE
  return unused;
}

int main(void) {
  run_two(opener, pager);
  use(state.pages + state.level);
  return 0;
}
