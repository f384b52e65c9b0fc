// Three OpenMP threads fill one histogram by omp atomic. libgomp's own synchronization is unknown to gcc's tsan.
#include "program.h"

int histogram[4];

int main(void) {
  int numbers[300];
  for (int i = 0; i < 300; ++i) numbers[i] = i * 7;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 300; ++i) {
#pragma omp atomic
    histogram[numbers[i] % 4]++;
  }
  return histogram[0] == 0;
}
