// A latch waits for one fewer than there are workers.
#include "twin.h"

#include <latch>
#include <thread>
#include <vector>

static long parts[3];

int main() {
  std::latch done(RACY ? 2 : 3);
  std::vector<std::jthread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&done, i] {
      if (RACY && i == 2) {
        pause_ms(20);
        parts[i] = i + 1;  // RACE
        return;
      }
      parts[i] = i + 1;
      done.count_down();
    });
  }
  done.wait();
  use(parts[0] + parts[1] + parts[2]);  // RACE
  return 0;
}
