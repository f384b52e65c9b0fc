// The last index for which something holds: lastprivate(conditional) or a plain store.
#include "twin.h"

int main(void) {
  int at = -1;
#if RACY
#pragma omp parallel for num_threads(3)
#else
#pragma omp parallel for lastprivate(conditional : at) num_threads(3)
#endif
  for (int i = 0; i < 90; ++i)
    if (i % 7 == 3) at = i;  // RACE
  use(at);
  return 0;
}
