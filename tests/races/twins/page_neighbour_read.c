// A thread makes thousands of accesses and ends; another one reads a neighbour of what was stored first.
#include "twin.h"

int limit = 5, work[16], value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* first(void* unused) {
  guard(&mutex);
  value = 1;  // RACE
  unguard(&mutex);
  for (int i = 0; i < 3000; ++i) work[i % 16] += i;
  return unused;
}

static void* second(void* unused) {
  pause_ms(40);
  use(limit);
  guard(&mutex);
  value += limit;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
