// The largest is tested and set in a critical section. libgomp's own synchronization is unknown to gcc's tsan.
#include "program.h"

#include <vector>

int main() {
  std::vector<int> numbers(200);
  for (int i = 0; i < 200; ++i) numbers[i] = (i * 83) % 199;
  int largest = -1;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 200; ++i) {
#pragma omp critical
    {
      if (numbers[i] > largest) largest = numbers[i];
    }
  }
  return largest != 198;
}
