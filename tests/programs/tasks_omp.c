// OpenMP tasks with dependences and a task tree compute Fibonacci and a pipeline in the right
// order.
#include <omp.h>
#include "program.h"

static long fibonacci(int n) {
  long a, b;
  if (n < 2) return n;
#pragma omp task shared(a) if (n > 6)
  a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 6)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char** argv) {
  long result = 0, chain = 1;
  omp_set_num_threads(argument(argc, argv, 1, 4));
#pragma omp parallel
#pragma omp single
  {
    result = fibonacci(13);
    for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) firstprivate(i)
      chain = chain * 3 + i;
    }
#pragma omp taskwait
#pragma omp taskloop grainsize(8)
    for (int i = 0; i < 64; ++i) {
#pragma omp atomic
      result += i;
    }
  }
  long want = 1;
  for (int i = 0; i < 20; ++i) want = want * 3 + i;
  CHECK_EQ(chain, want);
  CHECK_EQ(result, 233 + 2016);
  printf("result %ld chain %ld\n", result, chain);
  return 0;
}
