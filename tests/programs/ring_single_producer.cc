// A ring between one producer and one consumer, with plain acquire and release only, carries
// everything in order.
#include "program.h"

#include <atomic>
#include <string>
#include <thread>

static constexpr unsigned kSlots = 16, kElements = 300;
static std::string slots[kSlots];
static std::atomic<unsigned> head{0}, tail{0};

int main() {
  std::thread producer([] {
    for (unsigned i = 0; i < kElements; ++i) {
      while (i - tail.load(std::memory_order_acquire) == kSlots) std::this_thread::yield();
      slots[i % kSlots] = std::to_string(i) + std::string(i % 60, '.');
      head.store(i + 1, std::memory_order_release);
    }
  });
  size_t bytes = 0;
  for (unsigned i = 0; i < kElements; ++i) {
    while (head.load(std::memory_order_acquire) == i) std::this_thread::yield();
    std::string value = std::move(slots[i % kSlots]);
    CHECK(value == std::to_string(i) + std::string(i % 60, '.'));
    bytes += value.size();
    tail.store(i + 1, std::memory_order_release);
  }
  producer.join();
  std::printf("bytes %zu\n", bytes);
}
