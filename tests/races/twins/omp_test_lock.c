// A lock is tested; the racy program works even where it was not had.
#include <omp.h>

#include "twin.h"

static omp_lock_t lock;
static int count;

int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 3; ++i) {
    const int had = omp_test_lock(&lock);
    if (had || RACY) count += 1;  // RACE
    pause_ms(2);
    if (had) omp_unset_lock(&lock);
  }
  use(count);
  return 0;
}
