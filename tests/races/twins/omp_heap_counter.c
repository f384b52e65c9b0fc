// The counter that all threads count is on the heap.
#include "twin.h"

int main(void) {
  int* counter = (int*)calloc(1, sizeof(int));
#pragma omp parallel num_threads(3)
  {
#if !RACY
#pragma omp atomic
#endif
    (*counter)++;  // RACE
  }
  use(*counter);
  free(counter);
  return 0;
}
