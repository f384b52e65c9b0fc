// A function of a team gets the address of a variable of the team's maker.
#include "twin.h"

static void step(int* count) { (*count)++; }  // RACE

int main(void) {
  int count = 0;
#pragma omp parallel num_threads(3)
  {
    int mine = 0;
    step(RACY ? &count : &mine);
    use(mine);
  }
  use(count);
  return 0;
}
