// A spin lock by std::atomic_flag that is cleared relaxed: the next holder does not see what this one wrote.
#include "program.h"

#include <atomic>
#include <thread>

std::atomic_flag flag = ATOMIC_FLAG_INIT;
long value;
constexpr auto kClear = std::memory_order_relaxed;

static void body() {
  for (int i = 0; i < 200; ++i) {
    while (flag.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    value += i;  // RACE
    flag.clear(kClear);
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  return value == 0;
}
