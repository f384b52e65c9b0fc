// The pointer is stored with release and loaded with acquire.
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
    while (!(seen = current.load(std::memory_order_acquire))) usleep(100);
    use(seen->limit);
    use(seen->step);
  });
  pause_ms(2);
  config.limit = 10;
  config.step = 2;
  current.store(&config, std::memory_order_release);
  reader.join();
  return 0;
}
