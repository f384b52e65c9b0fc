// A level goes up by an atomic operation and down by a plain one.
#include "twin.h"

int main(void) {
  int level = 0;
#pragma omp parallel for num_threads(3) shared(level)
  for (int i = 0; i < 60; ++i) {
#pragma omp atomic
    level += 2;
#if RACY
    level -= 1;  // RACE
#else
#pragma omp atomic
    level -= 1;
#endif
  }
  use(level);
  return 0;
}
