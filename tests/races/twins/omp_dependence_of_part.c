// Tasks depend on blocks of an array; the racy one names another block than it reads.
#include "twin.h"

static int blocks[4][8];

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task depend(out : blocks[0])
    {
      pause_ms(5);
      for (int i = 0; i < 8; ++i) blocks[0][i] = i;  // RACE
    }
#pragma omp task depend(in : blocks[RACY ? 1 : 0]) depend(out : blocks[2])
    for (int i = 0; i < 8; ++i) blocks[2][i] = blocks[0][i] + 1;  // RACE
  }
  use(blocks[2][3]);
  return 0;
}
