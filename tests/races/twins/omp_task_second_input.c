// A task waits for one of the two tasks whose results it adds; the other one it does not name.
#include "twin.h"

int left, right, sum;

int main(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : left)
    left = 1;  // RACE
#pragma omp task depend(out : right)
    right = 2;
#if RACY
#pragma omp task depend(in : right)
    sum = left + right;  // RACE
#else
#pragma omp task depend(in : left, right)
    sum = left + right;
#endif
  }
  return !RACY && sum != 3;
}
