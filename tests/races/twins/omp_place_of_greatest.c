// The greatest value is a reduction, its place a plain shared variable.
#include "twin.h"

static int values[90];

int main(void) {
  for (int i = 0; i < 90; ++i) values[i] = i * 3;
  int greatest = -1, place = 0;
#pragma omp parallel num_threads(3)
  {
    int mine = -1, at = 0;
#pragma omp for nowait
    for (int i = 0; i < 90; ++i) {
      if (values[i] > mine) {
        mine = values[i];
        at = i;
      }
    }
#if RACY
    if (mine > greatest) {  // RACE
      greatest = mine;      // RACE
      place = at;           // RACE
    }
#else
#pragma omp critical
    if (mine > greatest) {
      greatest = mine;
      place = at;
    }
#endif
  }
  use(place);
  return 0;
}
