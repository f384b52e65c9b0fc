// A block is taken by a bit of a word; two threads look for a free one.
#include "twin.h"

static unsigned long map[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int take(void) {
  int found = -1;
  guard(&mutex);
  for (int i = 0; i < 2 && found < 0; ++i) {
    const unsigned long free_ones = ~map[i];  // RACE
    if (!free_ones) continue;
    const int bit = __builtin_ctzl(free_ones);
    map[i] |= 1ul << bit;  // RACE
    found = 64 * i + bit;
  }
  unguard(&mutex);
  return found;
}

static void* body(void* number) {
  for (int i = 0; i < 10; ++i) use(take());
  return number;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
