// Tasks call a function object that counts.
#include <atomic>

#include "twin.h"

int main() {
  int plain = 0;
  std::atomic<int> counted{0};
  auto count = [&] {
    if (RACY) plain++;  // RACE
    else counted++;
  };
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 6; ++i) {
#pragma omp task shared(count)
    {
      pause_ms(1);
      count();
    }
  }
  use(plain + counted);
  return 0;
}
