// Two sections use one lock, or one each.
#include <omp.h>

#include "twin.h"

int main(void) {
  long sum = 0;
  omp_lock_t one, two;
  omp_init_lock(&one);
  omp_init_lock(&two);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    for (int i = 0; i < 20; ++i) {
      omp_set_lock(&one);
      sum += i;  // RACE
      omp_unset_lock(&one);
    }
#pragma omp section
    for (int i = 0; i < 20; ++i) {
      omp_lock_t* lock = RACY ? &two : &one;
      omp_set_lock(lock);
      sum -= i;  // RACE
      omp_unset_lock(lock);
    }
  }
  use(sum);
  omp_destroy_lock(&one);
  omp_destroy_lock(&two);
  return 0;
}
