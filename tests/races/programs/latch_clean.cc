// Each thread writes its part and counts the latch down; main waits for it and reads.
#include "program.h"

#include <latch>
#include <thread>
#include <vector>

int parts[3];

int main() {
  std::latch done(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&done, t] {
      parts[t] = t + 1;
      done.count_down();
    });
  done.wait();
  for (int part : parts) use(part);
  for (auto& thread : threads) thread.join();
  return 0;
}
