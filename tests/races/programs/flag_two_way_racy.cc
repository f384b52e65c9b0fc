// Two threads pass a box to and fro; the way back is a relaxed store, so that the second writer is not ordered after
// the reader.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic<int> turn{0};
int box;
constexpr auto kBack = std::memory_order_relaxed;

int main() {
  std::thread other([] {
    for (int i = 0; i < 20; ++i) {
      while (turn.load(std::memory_order_acquire) != 1) std::this_thread::yield();
      use(box);  // RACE
      turn.store(0, kBack);
    }
  });
  for (int i = 0; i < 20; ++i) {
    while (turn.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    box = i;  // RACE
    turn.store(1, std::memory_order_release);
  }
  other.join();
  return 0;
}
