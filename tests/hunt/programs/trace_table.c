// A table of threads by hash: an empty place is found without the lock, and filled with it.
#include "planted.h"

enum { kPlaces = 16 };
static long table[kPlaces];

static void* enroll(void* number) {
  const long id = 100 + (long)number;
  for (int at = 3;; at = (at + 1) % kPlaces) {
    FIX(lock();)
    if (__atomic_load_n(&table[at], __ATOMIC_RELAXED)) {
      FIX(unlock();)
      continue;
    }
    BUG(lock();)
    __atomic_store_n(&table[at], id, __ATOMIC_RELAXED);
    unlock();
    break;
  }
  return NULL;
}

int main(void) {
  run_many(10, enroll, 0, NULL);
  int count = 0;
  for (int i = 0; i < kPlaces; i++) count += table[i] != 0;
  REQUIRE(count == 10);
  return 0;
}
