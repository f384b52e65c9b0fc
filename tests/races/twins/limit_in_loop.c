// A limit is used in a rare branch of a loop; compilers read it before the loop.
#include "twin.h"

static int limit = 5, sums[2];
static int rare[64];

static void* body(void* number) {
  const long me = (long)number;
  int sum = 0;
  for (int i = 0; i < 64; ++i) {
    if (rare[i] || (RACY && i == 9)) sum += limit;  // RACE
    sum += i;
  }
  sums[me] = sum;
  if (me == 1) limit = 6;  // RACE
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(sums[0] + sums[1]);
  return 0;
}
