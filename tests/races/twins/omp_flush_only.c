// A flush is no synchronization: all threads store through a pointer, then one adds.
#include "twin.h"

__attribute__((noinline)) static void set(int* place) {
#if RACY
  *place = 1;  // RACE
#pragma omp flush
#else
#pragma omp critical
  *place = 1;
#endif
}

int main(void) {
  int value = 0, sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    set(&value);
#if !RACY
#pragma omp barrier
#endif
    sum += value;  // RACE
  }
  use(sum);
  return 0;
}
