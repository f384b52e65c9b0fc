// A histogram whose bins are shared; the addition is not atomic.
#include "planted.h"

int main(void) {
  int bins[4] = {0};
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 32; i++) {
    FIX(_Pragma("omp atomic"))
    bins[i * 7 % 4]++;
  }
  REQUIRE(bins[0] + bins[1] + bins[2] + bins[3] == 32);
  return 0;
}
