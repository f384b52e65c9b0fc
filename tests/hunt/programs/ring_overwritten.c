// The consumer gives the place back before it has read it: the producer writes over it.
#include "planted.h"

static volatile int ring[1] = {1}, head = 1, tail;

static void* consume(void* unused) {
  for (int next = 1; next <= 2; next++) {
    if (tail == head) break;
    BUG(tail = tail + 1;)
    REQUIRE(ring[0] == next);
    FIX(tail = tail + 1;)
  }
  return unused;
}

static void* produce(void* unused) {
  if (head - tail == 1) return unused;  // full
  ring[0] = 2;
  head = head + 1;
  return unused;
}

int main(void) {
  RUN(consume, produce);
  return 0;
}
