// Readers count themselves without a lock; a writer that finds nobody may be wrong.
#include "planted.h"

static volatile int readers, value;

static void* reader(void* unused) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();)
    const int now = readers;
    readers = now + 1;
    FIX(unlock();)
    const int seen = value;
    (void)seen;
    FIX(lock();)
    const int then = readers;
    readers = then - 1;
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  RUN(reader, reader);
  REQUIRE(readers == 0);
  return 0;
}
