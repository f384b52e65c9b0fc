// Both accesses are made two thousand calls deep.
#include "twin.h"

int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int deep(int left) {
  volatile int kept = left;
  if (left > 0) return deep(left - 1) + kept;
  guard(&mutex);
  value++;  // RACE
  unguard(&mutex);
  return kept;
}

static void* body(void* unused) {
  use(deep(2000));
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
