// The value of the last iteration is wanted after the loop, but the variable is not lastprivate.
#include "program.h"

int main(void) {
  int last = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 1000; ++i) last = i;  // RACE
  use(last);
  return 0;
}
