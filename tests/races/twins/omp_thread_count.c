// Every thread stores how many there are, and reads it.
#include <omp.h>

#include "twin.h"

int main(void) {
  int threads = 0;
#pragma omp parallel num_threads(3)
  {
    if (RACY || omp_get_thread_num() == 0) threads = omp_get_num_threads();  // RACE
    if (RACY) use(threads);  // RACE
  }
  use(threads);
  return 0;
}
