// A static local of a function template is made once, and then changed without a lock.
#include <mutex>
#include <thread>
#include <vector>

#include "twin.h"

template <typename T>
static std::vector<T>& shared_values() {
  static std::vector<T> shared(4);
  return shared;
}

int main() {
  std::mutex mutex;
  auto body = [&](int value) {
    std::vector<int>& values = shared_values<int>();
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    values[2] += value;  // RACE
  };
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
  return 0;
}
