// The producer raises the index before it has written the item.
#include "planted.h"

static volatile int ring[2], head;

static void* produce(void* unused) {
  BUG(head = 1;)
  ring[0] = 9;
  FIX(head = 1;)
  return unused;
}

static void* consume(void* unused) {
  if (head == 1) REQUIRE(ring[0] == 9);
  return unused;
}

int main(void) {
  RUN(produce, consume);
  return 0;
}
