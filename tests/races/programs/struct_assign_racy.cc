// A 16-byte struct is assigned while another thread reads it: even if no half of it were seen, it is a race.
#include "program.h"

#include <mutex>
#include <thread>

struct Quote {
  double price, volume;
};
Quote latest{1, 2};

int main() {
  std::thread feed([] {
    for (int i = 0; i < 100; ++i) {
      latest = Quote{i * 1.0, i * 2.0};  // RACE
      use(i);
    }
  });
  for (int i = 0; i < 100; ++i) {
    Quote quote = latest;  // RACE
    use(static_cast<long>(quote.price + quote.volume));
  }
  feed.join();
  return 0;
}
