// The last task depends on all parts, or on all but the last.
#include "twin.h"

static int parts[4];

int main(void) {
  int sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
#pragma omp task depend(out : parts[i]) firstprivate(i)
      {
        pause_ms(i);
        parts[i] = i + 1;  // RACE
      }
    }
    const int last = RACY ? 3 : 4;
#pragma omp task depend(iterator(k = 0 : last), in : parts[k]) shared(sum)
    for (int i = 0; i < 4; ++i) sum += parts[i];  // RACE
  }
  use(sum);
  return 0;
}
