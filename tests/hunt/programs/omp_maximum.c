// Whether a value is the largest is asked outside of the critical section, and not again inside.
#include "planted.h"

static volatile int largest;

int main(void) {
#pragma omp parallel for num_threads(3) schedule(static, 1)
  for (int i = 0; i < 3; i++) {
    const int value = 10 - i;
    if (value > largest) {
#pragma omp critical
      {
        FIX(if (value > largest))
        largest = value;
      }
    }
  }
  REQUIRE(largest == 10);
  return 0;
}
