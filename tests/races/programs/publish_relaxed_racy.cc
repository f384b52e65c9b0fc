// The pointer is atomic but relaxed: it arrives, and what it points to is not ordered with it.
#include "program.h"

#include <atomic>
#include <thread>

struct Config {
  int limit, step;
};
Config config;
std::atomic<Config*> current{nullptr};

int main() {
  std::thread reader([] {
    Config* seen = nullptr;
    while (!(seen = current.load(std::memory_order_relaxed))) usleep(100);
    use(seen->limit);  // RACE
    use(seen->step);   // RACE
  });
  pause_ms(2);
  config.limit = 10;  // RACE
  config.step = 2;    // RACE
  current.store(&config, std::memory_order_relaxed);
  reader.join();
  return 0;
}
