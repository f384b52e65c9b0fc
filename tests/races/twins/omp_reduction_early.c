// The result of a reduction is read before all threads have added to it.
#include "twin.h"

int main(void) {
  int a = 0, seen = 0;
#pragma omp parallel num_threads(3) shared(a) private(seen)
  {
#pragma omp master
    a = 0;  // RACE
#if !RACY
#pragma omp barrier
#endif
#pragma omp for reduction(+ : a)
    for (int i = 0; i < 30; ++i) a += i;  // RACE
#pragma omp single
    seen = a;
    use(seen);
  }
  return 0;
}
