// A view is lazy: what it is a view of changes while it is gone through.
#include <mutex>
#include <ranges>
#include <thread>
#include <vector>

#include "twin.h"

int main() {
  std::vector<int> numbers{1, 2, 3, 4, 5, 6};
  std::mutex mutex;
  std::unique_lock<std::mutex> lock(mutex);
  auto even = numbers | std::views::filter([](int n) { return n % 2 == 0; });  // RACE
  std::thread thread([&] {
    std::scoped_lock mine(mutex);
    numbers[3] = 8;  // RACE
  });
  if (RACY) lock.unlock();
  long sum = 0;
  for (int number : even) sum += number;  // RACE
  if (!RACY) lock.unlock();
  use(sum);
  thread.join();
  return 0;
}
