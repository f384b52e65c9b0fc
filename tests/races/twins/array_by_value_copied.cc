// A std::array is copied as a whole while one element changes.
#include <array>
#include <mutex>
#include <thread>

#include "twin.h"

static std::array<double, 12> numbers;
static std::mutex mutex;

int main() {
  std::thread thread([] {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    numbers[7] = 1.5;  // RACE
  });
  std::array<double, 12> copy;
  {
    std::scoped_lock lock(mutex);
    copy = numbers;  // RACE
  }
  use(static_cast<long>(copy[7]));
  thread.join();
  return 0;
}
