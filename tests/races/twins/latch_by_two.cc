// arrive_and_wait of a latch; the racy latch counts one less.
#include <latch>
#include <thread>
#include <vector>

#include "twin.h"

int main() {
  int results[3] = {};
  std::latch latch(RACY ? 2 : 3);
  auto body = [&](int me) {
    pause_ms(me * 2);
    results[me] = me + 1;  // RACE
    if (RACY && me == 2) return;
    latch.arrive_and_wait();
    use(results[2]);  // RACE
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(body, i);
  return 0;
}
