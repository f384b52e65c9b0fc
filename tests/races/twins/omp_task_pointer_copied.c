// Tasks have a pointer each, and all of them point to the same array.
#include "twin.h"

int main(void) {
  int numbers[4] = {0};
#pragma omp parallel num_threads(3)
  {
    int* place = numbers;
    int own[4] = {0};
    if (!RACY) place = own;
#pragma omp task firstprivate(place)
    place[1] += 2;  // RACE
#pragma omp taskwait
  }
  use(numbers[1]);
  return 0;
}
