// A task tree adds the results of its children without having waited for them.
#include "twin.h"

__attribute__((noinline)) static int tree(int n) {
  int left = 0, right = 0;
  if (n < 2) return n;
#pragma omp task shared(left)
  left = tree(n - 1);  // RACE
#pragma omp task shared(right)
  right = tree(n - 2);  // RACE
#if !RACY
#pragma omp taskwait
#endif
  int sum = left + right;  // RACE
#if RACY
#pragma omp taskwait
#endif
  return sum;
}

int main(void) {
  int result = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  result = tree(6);
  use(result);
  return 0;
}
