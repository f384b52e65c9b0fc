// Two sections change a balance, each under the lock.
#include <omp.h>

#include "program.h"

static omp_lock_t lock;
static long balance = 100;

int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel sections num_threads(3)
  {
#pragma omp section
    {
      omp_set_lock(&lock);
      balance += 10;
      omp_unset_lock(&lock);
    }
#pragma omp section
    {
      omp_set_lock(&lock);
      balance -= 30;
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  use(balance);
  return 0;
}
