// A temporary that ought to be private to each thread.
#include "planted.h"

static int result[16];

int main(void) {
  BUG(int temporary;)
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 16; i++) {
    FIX(int temporary;)
    *(volatile int*)&temporary = i * i;
    result[i] = *(volatile int*)&temporary + 1;
  }
  for (int i = 0; i < 16; i++) REQUIRE(result[i] == i * i + 1);
  return 0;
}
