// A clock of two words: the low one rolls over between the reads of both.
#include "planted.h"

static volatile int high = 1, low = 99, last;

static void* tick(void* unused) {
  FIX(lock();)
  low = 0;
  high = 2;
  FIX(unlock();)
  return unused;
}

static void* read_clock(void* unused) {
  FIX(lock();)
  const int now = high * 100 + low;
  FIX(unlock();)
  REQUIRE(now == 199 || now == 200);
  last = now;
  return unused;
}

int main(void) {
  RUN(tick, read_clock);
  return 0;
}
