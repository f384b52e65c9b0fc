// Both the counter and what shadows it are std::atomic, the shadow relaxed.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> counter;
std::atomic<int> total;

static void body() {
  for (int i = 0; i < 200; ++i) {
    int now = counter.load(std::memory_order_relaxed) + 1;
    counter.store(now, std::memory_order_relaxed);
    total.store(now, std::memory_order_relaxed);
    use(now);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return total > 0 ? 0 : 1;
}
