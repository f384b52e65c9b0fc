// Two OpenMP locks, taken in both orders.
#include <omp.h>

#include "planted.h"

int main(void) {
  omp_lock_t a, b;
  omp_init_lock(&a);
  omp_init_lock(&b);
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
      omp_set_lock(&a);
      omp_set_lock(&b);
      omp_unset_lock(&b);
      omp_unset_lock(&a);
    }
#pragma omp section
    {
      omp_set_lock(FIX(&a) BUG(&b));
      omp_set_lock(FIX(&b) BUG(&a));
      omp_unset_lock(FIX(&b) BUG(&a));
      omp_unset_lock(FIX(&a) BUG(&b));
    }
  }
  return 0;
}
