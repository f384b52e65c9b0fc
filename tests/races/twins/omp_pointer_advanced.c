// A pointer moves on through an array; the clean threads have one each.
#include "twin.h"

static int numbers[256];

int main(void) {
  int* next = numbers;
#pragma omp parallel num_threads(3)
  {
    int* mine = numbers;
#pragma omp for
    for (int i = 0; i < 64; ++i) {
      if (RACY) next++;  // RACE
      else mine++;
    }
    use((long)mine);
  }
  use((long)next);
  return 0;
}
