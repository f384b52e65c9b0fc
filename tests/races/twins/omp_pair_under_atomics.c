// The count is changed atomically, what belongs to it is not.
#include "twin.h"

static int count, most;

int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 30; ++i) {
#if RACY
    int mine;
#pragma omp atomic capture
    mine = ++count;
    if (mine > most) most = mine;  // RACE
#else
#pragma omp critical
    {
      count++;
      if (count > most) most = count;
    }
#endif
  }
  use(most);
  return 0;
}
