// Two threads fill spans of one vector; the racy ones overlap by an element.
#include <span>
#include <vector>

#include "twin.h"

static std::vector<int> numbers(40);

static void* body(void* number) {
  const size_t me = (size_t)(long)number;
  const std::span<int> mine = std::span<int>(numbers).subspan(20 * me - (RACY && me), 20);
  int next = (int)me;
  for (int& one : mine) one = next++;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(numbers[19]);
  return 0;
}
