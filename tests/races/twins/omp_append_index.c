// Each iteration appends to an array at a shared index.
#include "twin.h"

int input[200], output[200], length;

int main(void) {
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 200; ++i) {
#if RACY
    output[length++] = input[i];  // RACE
#else
    int place;
#pragma omp atomic capture
    place = length++;
    output[place] = input[i];
#endif
  }
  use(output[3]);
  return 0;
}
