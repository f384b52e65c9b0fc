// Lamport's bakery: a thread draws a number, and may read the others' before its own is seen.
#include "fence.h"

enum { kThreads = 2 };
static int choosing[kThreads], number[kThreads], count;

static void draw(long me) {
  STORE(choosing[me], 1);
  FENCE();
  int most = 0;
  for (int i = 0; i < kThreads; i++) {
    const int other = LOAD(number[i]);
    if (other > most) most = other;
  }
  STORE(number[me], most + 1);
  STORE(choosing[me], 0);
  FENCE();
}

static void* add(void* argument) {
  const long me = (long)argument;
  draw(me);
  for (int i = 0; i < kThreads; i++) {
    while (LOAD(choosing[i])) sched_yield();
    for (;;) {
      const int other = LOAD(number[i]);
      if (!other || other > LOAD(number[me]) || (other == LOAD(number[me]) && i >= me)) break;
      sched_yield();
    }
  }
  const int before = LOAD(count);
  STORE(count, before + 1);
  STORE(number[me], 0);
  return NULL;
}

int main(void) {
  RUN(add, add);
  REQUIRE(count == kThreads);
  return 0;
}
