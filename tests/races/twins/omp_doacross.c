// Iterations that use what the one before has stored wait for it (ordered depend); the racy ones do not.
#include "twin.h"

int cells[100];

int main(void) {
#pragma omp parallel for ordered(1)
  for (int i = 1; i < 100; ++i) {
#if !RACY
#pragma omp ordered depend(sink : i - 1)
#endif
    cells[i] = cells[i - 1] + 1;  // RACE
#if !RACY
#pragma omp ordered depend(source)
#endif
  }
  return !RACY && cells[99] != 99;
}
