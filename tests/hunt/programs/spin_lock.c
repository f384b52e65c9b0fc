// A lock that is tried again and again, taken by four threads; one path forgets it.
#include "planted.h"

enum { kRounds = 3 };
static volatile int locked, count;

static void acquire(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE)) {}
}
static void release(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

static void* add(void* unused) {
  for (int i = 0; i < kRounds; i++) {
    acquire();
    count = count + 1;
    release();
  }
  return unused;
}

static void* add_once(void* unused) {
  FIX(acquire();)
  const int before = count;
  count = before + 1;
  FIX(release();)
  return unused;
}

int main(void) {
  RUN(add, add, add, add_once);
  REQUIRE(count == 3 * kRounds + 1);
  return 0;
}
