// The ordered region holds the store only in the clean program.
#include "twin.h"

int main(void) {
  int last = 0, sum = 0;
#pragma omp parallel for ordered num_threads(3) schedule(static, 1)
  for (int i = 0; i < 30; ++i) {
    if (RACY) last = i;  // RACE
#pragma omp ordered
    {
      sum += i;
      if (!RACY) last = i;
    }
  }
  use(last + sum);
  return 0;
}
