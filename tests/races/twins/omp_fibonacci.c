// Fibonacci's numbers by tasks; the racy program adds before it has waited for them.
#include "twin.h"

static long fibonacci(int n) {
  if (n < 2) return n;
  long one = 0, two = 0;
#pragma omp task shared(one)
  one = fibonacci(n - 1);  // RACE
  two = fibonacci(n - 2);
#if !RACY
#pragma omp taskwait
#endif
  const long sum = one + two;  // RACE
#if RACY
#pragma omp taskwait
#endif
  return sum;
}

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  use(fibonacci(7));
  return 0;
}
