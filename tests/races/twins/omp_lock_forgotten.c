// One of two sections counts without the nested lock.
#include <omp.h>

#include "twin.h"

int count;
static omp_nest_lock_t lock;

__attribute__((noinline)) static void locked(void) {
  omp_set_nest_lock(&lock);
  count += 1;  // RACE
  omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      omp_set_nest_lock(&lock);
      locked();
      omp_unset_nest_lock(&lock);
    }
#pragma omp section
    {
      if (!RACY) locked();
      if (RACY) count += 3;  // RACE
    }
  }
  omp_destroy_nest_lock(&lock);
  use(count);
  return 0;
}
