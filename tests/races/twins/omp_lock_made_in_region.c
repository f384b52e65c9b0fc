// Each thread makes a lock of its own, where all are to have one.
#include <omp.h>

#include "twin.h"

static int count;

int main(void) {
  omp_lock_t common;
  omp_init_lock(&common);
#pragma omp parallel num_threads(3)
  {
    omp_lock_t own;
    omp_init_lock(&own);
    omp_lock_t* const lock = RACY ? &own : &common;
    for (int i = 0; i < 5; ++i) {
      omp_set_lock(lock);
      count++;  // RACE
      omp_unset_lock(lock);
    }
    omp_destroy_lock(&own);
  }
  use(count);
  omp_destroy_lock(&common);
  return 0;
}
