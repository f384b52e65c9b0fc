// Counts by number of thread, of two regions that run at the same time.
#include <omp.h>

#include "twin.h"

static int counts[8];

static void* body(void* number) {
  const int shift = RACY ? 0 : 4 * (int)(long)number;
#pragma omp parallel num_threads(2)
  {
    for (int i = 0; i < 20; ++i) counts[shift + omp_get_thread_num()]++, use(i);  // RACE
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(counts[0]);
  return 0;
}
