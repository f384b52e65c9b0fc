// A 16-byte struct is assigned and read under a mutex.
#include "program.h"

#include <mutex>
#include <thread>

struct Quote {
  double price, volume;
};
Quote latest{1, 2};
std::mutex mutex;

int main() {
  std::thread feed([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      latest = Quote{i * 1.0, i * 2.0};
      use(i);
    }
  });
  for (int i = 0; i < 100; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    Quote quote = latest;
    use(static_cast<long>(quote.price + quote.volume));
  }
  feed.join();
  return 0;
}
