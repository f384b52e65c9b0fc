// Two threads smooth a matrix in place by rows: each reads the border row that the other one writes.
#include "program.h"

double from[32][32], to[32][32];
#define TARGET from
static void smooth(int first, int limit) {
  for (int row = first; row < limit; ++row)
    for (int column = 0; column < 32; ++column)
      TARGET[row][column] = (from[row - 1][column] + from[row][column] + from[row + 1][column]) / 3;  // RACE
}

static void* upper(void* unused) {
  smooth(1, 16);
  return unused;
}

static void* lower(void* unused) {
  smooth(16, 31);
  return unused;
}

int main(void) {
  run_two(upper, lower);
  use((long)to[3][3]);
  return 0;
}
