// OpenMP threads claim the items of a queue by a read and a write of its index.
#include "planted.h"

static volatile int next_item;
static int done[3];

int main(void) {
#pragma omp parallel num_threads(2)
  for (;;) {
    int mine;
#ifdef FIXED
#pragma omp atomic capture
    mine = next_item++;
#else
    mine = next_item;
    next_item = mine + 1;
#endif
    if (mine >= 3) break;
    __atomic_add_fetch(&done[mine], 1, __ATOMIC_SEQ_CST);
  }
  REQUIRE(done[0] == 1 && done[1] == 1 && done[2] == 1);
  return 0;
}
