// Both statistics are relaxed atomics: main may poll them.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<long> packets;
std::atomic<long> bytes;

int main() {
  std::thread worker([] {
    for (int i = 0; i < 100; ++i) {
      packets.fetch_add(1, std::memory_order_relaxed);
      bytes.fetch_add(64, std::memory_order_relaxed);
      use(i);
    }
    pause_ms(5);
  });
  for (int i = 0; i < 20; ++i) {
    use(packets.load(std::memory_order_relaxed));
    use(bytes.load(std::memory_order_relaxed));
    pause_ms(1);
  }
  worker.join();
  return 0;
}
