// The threads sum disjoint slices and return what they found by an element of their own.
#include "program.h"

#include <numeric>
#include <thread>
#include <vector>

int main() {
  std::vector<int> numbers(900, 2);
  std::vector<long> totals(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      long sum = std::accumulate(numbers.begin() + t * 300, numbers.begin() + (t + 1) * 300, 0L);
      totals[t] = sum;
    });
  for (auto& thread : threads) thread.join();
  return std::accumulate(totals.begin(), totals.end(), 0L) != 1800;
}
