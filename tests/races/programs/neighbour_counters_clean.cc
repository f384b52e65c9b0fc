// Each thread has its own counter in an array; all lie in one cache line.
#include "program.h"

#include <thread>
#include <vector>

long counters[4];

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([number = t] {
      for (int i = 0; i < 1000; ++i) {
        counters[number] += i;
        use(i);
      }
    });
  for (auto& thread : threads) thread.join();
  return counters[0] == 0;
}
