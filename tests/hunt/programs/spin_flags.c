// Three threads go one after the other, by spinning on flags. The second says that it is done
// before it is.
#include "planted.h"

static volatile int turn, value;

static void wait_for(int which) {
  while (turn != which) {}
}

static void* one(void* unused) {
  wait_for(2);
  REQUIRE(value == 12);
  return unused;
}

static void* two(void* unused) {
  wait_for(1);
  BUG(turn = 2;)
  value = value + 2;
  FIX(turn = 2;)
  return unused;
}

static void* three(void* unused) {
  value = 10;
  turn = 1;
  return unused;
}

int main(void) {
  RUN(one, two, three);
  return 0;
}
