// The writer of a sequence lock raises the number once only, after it has written.
#include "planted.h"

static volatile unsigned sequence, a, b;

static void* write_both(void* unused) {
  FIX(sequence = sequence + 1;)
  a = 1;
  b = 1;
  sequence = sequence + FIX(1) BUG(2);
  return unused;
}

static void* read_both(void* unused) {
  const unsigned before = sequence;
  if (before & 1) return unused;
  const unsigned one = a, two = b;
  if (sequence != before) return unused;
  REQUIRE(one == two);
  return unused;
}

int main(void) {
  RUN(read_both, write_both);
  return 0;
}
