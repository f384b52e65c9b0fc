// The largest is tested outside the critical section, as it is set within.
#include "program.h"

#include <vector>

int main() {
  std::vector<int> numbers(200);
  for (int i = 0; i < 200; ++i) numbers[i] = (i * 83) % 199;
  int largest = -1;
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 200; ++i) {
    if (numbers[i] > largest) {  // RACE
#pragma omp critical
      if (numbers[i] > largest) largest = numbers[i];  // RACE
    }
  }
  return largest != 198;
}
