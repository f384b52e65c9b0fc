// A nested lock is free when it has been let go as often as it was taken.
#include <omp.h>

#include "twin.h"

static omp_nest_lock_t lock;
static int count;

static void add(void) {
  omp_set_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  if (RACY) omp_unset_nest_lock(&lock), pause_ms(1);
  count++;  // RACE
  if (!RACY) omp_unset_nest_lock(&lock);
}

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(3)
  add();
  use(count);
  omp_destroy_nest_lock(&lock);
  return 0;
}
