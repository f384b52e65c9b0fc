// Threads add to a local variable of the function that started them.
#include <mutex>
#include <thread>

#include "twin.h"

int main() {
  std::mutex mutex;
  long sum = 0;
  auto add = [&](long value) {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    sum += value;  // RACE
  };
  std::thread one(add, 1), two(add, 2);
  one.join();
  two.join();
  use(sum);
  return 0;
}
