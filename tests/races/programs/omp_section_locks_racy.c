// Two sections change a balance; only one of them takes the lock.
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
      balance += 10;  // RACE
      omp_unset_lock(&lock);
    }
#pragma omp section
    balance -= 30;  // RACE
  }
  omp_destroy_lock(&lock);
  use(balance);
  return 0;
}
