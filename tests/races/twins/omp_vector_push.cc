// Threads of a team append to one vector.
#include <vector>

#include "twin.h"

int main() {
  std::vector<int> numbers;
  numbers.reserve(1000);
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 60; ++i) {
#if !RACY
#pragma omp critical
#endif
    numbers.push_back(i);  // RACE
  }
  use(static_cast<long>(numbers.size()));
  return 0;
}
