// A ring buffer for one producer and one consumer; head and tail are atomics with acquire and release.
#include "program.h"

#include <atomic>
#include <thread>

constexpr unsigned kSize = 8;
int ring[kSize];
std::atomic<unsigned> head{0}, tail{0};
static unsigned get(std::atomic<unsigned>& place) { return place.load(std::memory_order_acquire); }
static void set(std::atomic<unsigned>& place, unsigned to) { place.store(to, std::memory_order_release); }

int main() {
  std::thread producer([] {
    for (unsigned i = 0, waited = 0; i < 64 && waited < 500;) {
      if (get(tail) - get(head) == kSize) {
        usleep(20), ++waited;
        continue;
      }
      ring[i % kSize] = static_cast<int>(i);
      set(tail, ++i);
    }
  });
  for (unsigned i = 0, waited = 0; i < 64 && waited < 500;) {
    if (get(head) == get(tail)) {
      usleep(20), ++waited;
      continue;
    }
    use(ring[i % kSize]);
    set(head, ++i);
  }
  producer.join();
  return 0;
}
