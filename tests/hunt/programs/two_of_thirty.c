// Thirty threads of which one starts an operation and another ends it; a third kind looks at both
// fields, and is wrong only if it comes between the two writes of each.
#include "planted.h"

static volatile int begun, ended, sum;

static void* begin(void* unused) {
  FIX(lock();)
  begun = 1;
  if (ended) sum = 1;
  FIX(unlock();)
  return unused;
}

static void* end(void* unused) {
  FIX(lock();)
  ended = 1;
  if (begun) sum = 2;
  FIX(unlock();)
  return unused;
}

static void* look(void* unused) {
  FIX(lock();)
  if (begun && ended) REQUIRE(sum != 0);
  FIX(unlock();)
  return unused;
}

int main(void) {
  Body bodies[30];
  for (int i = 0; i < 30; i++) bodies[i] = look;
  bodies[11] = begin;
  bodies[19] = end;
  run_threads(30, bodies);
  return 0;
}
