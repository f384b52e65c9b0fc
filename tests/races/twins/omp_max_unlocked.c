// The greatest value is looked at outside the lock, and set without looking again.
#include <omp.h>

#include "twin.h"

static int values[200], greatest;

int main(void) {
  omp_set_num_threads(4);
  for (int i = 0; i < 200; ++i) values[i] = (i * 37) % 199;
#pragma omp parallel for
  for (int i = 0; i < 200; ++i) {
    if (RACY) {
      if (values[i] > greatest) {  // RACE
#pragma omp critical
        greatest = values[i];  // RACE
      }
    } else {
#pragma omp critical
      if (values[i] > greatest) greatest = values[i];
    }
  }
  use(greatest);
  return 0;
}
