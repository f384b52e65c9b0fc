// Two threads add to a valarray; the racy ones to the same half.
#include <valarray>

#include "twin.h"

static std::valarray<double> sums(64);

static void* body(void* number) {
  const size_t from = RACY ? 16 : 32 * (size_t)(long)number;
  for (size_t i = from; i < from + 32; ++i) sums[i] += 1.5;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use((long)sums[20]);
  return 0;
}
