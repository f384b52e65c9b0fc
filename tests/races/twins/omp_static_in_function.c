// A function that all threads call has a static variable.
#include "twin.h"

__attribute__((noinline)) static int next(void) {
#if RACY
  static int calls;
#else
  static __thread int calls;
#endif
  calls += 1;  // RACE
  return calls;
}

int main(void) {
#pragma omp parallel num_threads(3)
  use(next());
  return 0;
}
