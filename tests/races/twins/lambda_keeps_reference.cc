// A lambda keeps the loop's index by reference, or its value.
#include "twin.h"

#include <thread>
#include <vector>

static long seen[3];

int main() {
  std::vector<std::thread> threads;
  long index = 0;
  for (int i = 0; i < 3; ++i) {
#if RACY
    threads.emplace_back([&index, i] { seen[i] = index; });  // RACE
#else
    threads.emplace_back([index, i] { seen[i] = index; });
#endif
    index += 10;  // RACE
  }
  for (std::thread& thread : threads) thread.join();
  use(seen[1]);
  return 0;
}
