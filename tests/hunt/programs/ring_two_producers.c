// A ring for one producer, used by two: both write into the same place.
#include "planted.h"

enum { kSize = 4 };
static volatile int ring[kSize], head;

static void* produce(void* number) {
  FIX(lock();)
  const int at = head;
  ring[at % kSize] = (int)(long)number + 1;
  head = at + 1;
  FIX(unlock();)
  return NULL;
}

int main(void) {
  RUN(produce, produce);
  REQUIRE(head == 2 && ring[0] + ring[1] == 3);
  return 0;
}
