// The reader of a sequence lock looks at the number before it reads, and not again after it.
#include "planted.h"

static volatile unsigned sequence, a, b;

static void* write_both(void* unused) {
  sequence = sequence + 1;
  a = 1;
  b = 1;
  sequence = sequence + 1;
  return unused;
}

static void* read_both(void* unused) {
  const unsigned before = sequence;
  if (before & 1) return unused;
  const unsigned one = a, two = b;
  FIX(if (sequence != before) return unused;)
  REQUIRE(one == two);
  return unused;
}

int main(void) {
  RUN(write_both, read_both);
  return 0;
}
