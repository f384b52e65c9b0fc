// One thread walks a vector by iterators while another appends to it, which moves its elements.
#include <vector>

#include "planted.h"

static std::vector<int> numbers{1, 2, 3, 4};

static void* walk(void* unused) {
  int total = 0;
  FIX(lock();)
  for (auto it = numbers.begin(), end = numbers.end(); it != end; ++it) total += *it;
  FIX(unlock();)
  REQUIRE(total >= 10);
  return unused;
}

static void* append(void* unused) {
  lock();
  numbers.push_back(5);
  unlock();
  return unused;
}

int main() {
  RUN(walk, append);
  return 0;
}
