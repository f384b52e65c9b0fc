// A table with open addresses: a thread that inserts asks each place without the lock.
#include "twin.h"

enum { kPlaces = 64 };
static long keys[kPlaces];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void insert(long key) {
  guard(&mutex);
  for (int i = 0; i < kPlaces; ++i) {
    const long at = (key + i) % kPlaces;
    if (keys[at] == key) break;  // RACE
    if (keys[at]) continue;      // RACE
    keys[at] = key;              // RACE
    break;
  }
  unguard(&mutex);
}

static void* body(void* number) {
  for (long i = 1; i < 20; ++i) insert(i + 5 * (long)number);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(keys[7]);
  return 0;
}
