// A function gets the address of a shared variable and adds to it.
#include "twin.h"

__attribute__((noinline)) static void add(int* place) { *place += 1; }  // RACE

int main(void) {
  int i = 0;
#if RACY
#pragma omp parallel num_threads(3)
#else
#pragma omp parallel num_threads(3) firstprivate(i)
#endif
  add(&i);
  use(i);
  return 0;
}
