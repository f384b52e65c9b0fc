// Each thread has a lock of its own, and so none.
#include <omp.h>

#include "twin.h"

static omp_lock_t locks[4];
static int sum;

int main(void) {
  omp_set_num_threads(4);
  for (int i = 0; i < 4; ++i) omp_init_lock(&locks[i]);
#pragma omp parallel
  {
    omp_lock_t* lock = &locks[RACY ? omp_get_thread_num() : 0];
    for (int i = 0; i < 5; ++i) {
      omp_set_lock(lock);
      sum++;  // RACE
      omp_unset_lock(lock);
    }
  }
  use(sum);
  return 0;
}
