// Places in a table are drawn by a captured atomic, or by an atomic and a read behind it.
#include "twin.h"

static int next, slots[400];

int main(void) {
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 60; ++i) {
    int mine;
#if RACY
#pragma omp atomic
    next++;
    mine = next;  // RACE
#else
#pragma omp atomic capture
    mine = next++;
    slots[mine] = i;
#endif
    use(mine);
  }
  use(slots[3]);
  return 0;
}
