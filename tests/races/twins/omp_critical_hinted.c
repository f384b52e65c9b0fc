// Critical regions with hints keep each other out if they have one name.
#include <omp.h>

#include "twin.h"

int main(void) {
  long sum = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    for (int i = 0; i < 20; ++i) {
#pragma omp critical(adding) hint(omp_sync_hint_contended)
      sum += i;  // RACE
    }
#pragma omp section
    for (int i = 0; i < 20; ++i) {
#if RACY
#pragma omp critical(taking) hint(omp_sync_hint_contended)
#else
#pragma omp critical(adding) hint(omp_sync_hint_contended)
#endif
      sum -= i;  // RACE
    }
  }
  use(sum);
  return 0;
}
