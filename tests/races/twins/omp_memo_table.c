// Iterations keep results in one table, and take them from there.
#include "twin.h"

static int memo[64];

static int steps(int number) {
  int known;
#if !RACY
#pragma omp critical
#endif
  known = memo[number % 64];  // RACE
  if (known) return known;
  int count = 1;
  for (int at = number; at > 1; ++count) at = at % 2 ? 3 * at + 1 : at / 2;
#if !RACY
#pragma omp critical
#endif
  memo[number % 64] = count;  // RACE
  return count;
}

int main(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3) schedule(dynamic)
  for (int i = 1; i < 120; ++i) sum += steps(i);
  use(sum);
  return 0;
}
