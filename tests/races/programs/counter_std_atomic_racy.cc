// A std::atomic counter is read and stored in two steps on a plain shadow variable beside it: the shadow races.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> counter;
int total;

static void body() {
  for (int i = 0; i < 200; ++i) {
    int now = counter.load(std::memory_order_relaxed) + 1;
    counter.store(now, std::memory_order_relaxed);
    total = now;  // RACE
    use(now);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return total > 0 ? 0 : 1;
}
