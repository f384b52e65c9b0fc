// Sixteen bytes are stored at once; the other thread reads one of them.
#include "twin.h"

typedef long Pair __attribute__((vector_size(16)));
static Pair pair;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* store(void* unused) {
  guard(&mutex);
  pair = (Pair){1, 2};  // RACE
  unguard(&mutex);
  return unused;
}

static void* look(void* unused) {
  pause_ms(5);
  guard(&mutex);
  use(pair[1]);  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(store, look);
  return 0;
}
