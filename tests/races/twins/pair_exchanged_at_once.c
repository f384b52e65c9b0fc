// Sixteen bytes change by one compare and exchange, or half by half.
#include "twin.h"

typedef unsigned __int128 Pair;
static Pair pair __attribute__((aligned(16)));
static long halves[2];

static void* body(void* number) {
  for (int i = 0; i < 20; ++i) {
    if (RACY) {
      halves[0]++;                 // RACE
      halves[1] += (long)number;   // RACE
    } else {
      Pair old = 0, seen;
      while ((seen = __sync_val_compare_and_swap(&pair, old, old + 1)) != old) old = seen;
    }
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(halves[0] + (long)pair);
  return 0;
}
