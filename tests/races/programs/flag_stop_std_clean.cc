// main stops a worker by a relaxed atomic bool, which needs to order nothing.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<bool> stop{false};

int main() {
  std::thread worker([] {
    for (int i = 0; i < 100; ++i) {
      if (stop.load(std::memory_order_relaxed)) break;
      pause_ms(1);
    }
  });
  pause_ms(5);
  stop.store(true, std::memory_order_relaxed);
  worker.join();
  return 0;
}
