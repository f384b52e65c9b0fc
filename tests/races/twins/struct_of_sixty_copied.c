// A large structure is copied while another thread fills a part of it.
#include "twin.h"

struct record {
  long values[40];
};
static struct record shared, copy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* fill(void* unused) {
  guard(&mutex);
  shared.values[33] = 7;  // RACE
  unguard(&mutex);
  return unused;
}

static void* take(void* unused) {
  pause_ms(5);
  guard(&mutex);
  copy = shared;  // RACE
  unguard(&mutex);
  use(copy.values[33]);
  return unused;
}

int main(void) {
  run_two(fill, take);
  return 0;
}
