// The threads sum disjoint slices, but all add what they found to one plain total.
#include "program.h"

#include <numeric>
#include <thread>
#include <vector>

int main() {
  std::vector<int> numbers(900, 2);
  long total = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      long sum = std::accumulate(numbers.begin() + t * 300, numbers.begin() + (t + 1) * 300, 0L);
      total += sum;  // RACE
    });
  for (auto& thread : threads) thread.join();
  return total == 0;
}
