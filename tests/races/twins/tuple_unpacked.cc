// A structured binding by reference, or a copy of a tuple that another thread changes.
#include <mutex>
#include <thread>
#include <tuple>

#include "twin.h"

static std::tuple<int, long> values{1, 2};
static std::mutex mutex;

int main() {
  std::thread thread([] {
    std::scoped_lock lock(mutex);
    std::get<1>(values) = 5;  // RACE
  });
  std::unique_lock<std::mutex> lock(mutex);
  if (RACY) lock.unlock();
  auto [first, second] = values;  // RACE
  if (!RACY) lock.unlock();
  use(first + second);
  thread.join();
  return 0;
}
