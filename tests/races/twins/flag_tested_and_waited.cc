// A lock of std::atomic_flag that waits and notifies; the racy one is taken by a test.
#include <atomic>
#include <thread>

#include "twin.h"

static std::atomic_flag taken;
static long value;

static void with_lock(long add) {
  if (RACY) {
    while (taken.test()) taken.wait(true);
  } else {
    while (taken.test_and_set(std::memory_order_acquire)) taken.wait(true, std::memory_order_relaxed);
  }
  value += add;  // RACE
  if (!RACY) taken.clear(std::memory_order_release);
  taken.notify_one();
}

int main() {
  std::thread one(with_lock, 1), two(with_lock, 2);
  one.join();
  two.join();
  use(value);
  return 0;
}
