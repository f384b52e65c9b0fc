// A number is drawn by `atomic capture`; the racy program counts atomically and reads beside it.
#include "twin.h"

static int next, taken[64];

int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 30; ++i) {
    int mine;
#if RACY
#pragma omp atomic
    next++;
    mine = next;  // RACE
#else
#pragma omp atomic capture
    mine = next++;
#endif
    use(mine);
  }
  use(taken[1] + next);
  return 0;
}
