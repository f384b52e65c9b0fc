// Of two statistics one is atomic, the other was forgotten: main polls both while a worker adds.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<long> packets;
long bytes;

int main() {
  std::thread worker([] {
    for (int i = 0; i < 100; ++i) {
      packets.fetch_add(1, std::memory_order_relaxed);
      bytes += 64;  // RACE
      use(i);
    }
    pause_ms(5);
  });
  for (int i = 0; i < 20; ++i) {
    use(packets.load(std::memory_order_relaxed));
    use(bytes);  // RACE
    pause_ms(1);
  }
  worker.join();
  return 0;
}
