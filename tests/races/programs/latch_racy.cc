// The latch is counted down before the part is written.
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
      done.count_down();
      parts[t] = t + 1;  // RACE
    });
  done.wait();
  for (int part : parts) use(part);  // RACE
  for (auto& thread : threads) thread.join();
  return 0;
}
