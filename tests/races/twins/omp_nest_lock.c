// A lock that nests is given back as often as it was taken, or once too often.
#include <omp.h>

#include "twin.h"

static omp_nest_lock_t lock;
static int count;

int main(void) {
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 3; ++i) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    if (RACY) omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    count += 1;  // RACE
    if (!RACY) omp_unset_nest_lock(&lock);
  }
  use(count);
  return 0;
}
