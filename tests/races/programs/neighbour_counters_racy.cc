// Each thread has a counter in an array, but two threads were given the same number.
#include "program.h"

#include <thread>
#include <vector>

long counters[4];

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([number = t == 3 ? 1 : t] {
      for (int i = 0; i < 1000; ++i) {
        counters[number] += i;  // RACE
        use(i);
      }
    });
  for (auto& thread : threads) thread.join();
  return counters[0] == 0;
}
