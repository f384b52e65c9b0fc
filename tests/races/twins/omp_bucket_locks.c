// A lock for each bucket; the racy program takes the lock of the next.
#include <omp.h>

#include "twin.h"

static struct {
  omp_lock_t lock;
  int count;
} buckets[4];

int main(void) {
  for (int i = 0; i < 4; ++i) omp_init_lock(&buckets[i].lock);
#pragma omp parallel num_threads(3)
  {
    const int ahead = RACY ? omp_get_thread_num() : 0;
    for (int i = 0; i < 40; ++i) {
      const int at = i % 4;
      omp_set_lock(&buckets[(at + ahead) % 4].lock);
      buckets[at].count++;  // RACE
      omp_unset_lock(&buckets[(at + ahead) % 4].lock);
    }
  }
  use(buckets[2].count);
  return 0;
}
