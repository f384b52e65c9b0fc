// A vector has room for all; one thread appends, and another asks how many there are.
#include "twin.h"

#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::vector<int> numbers;

int main() {
  numbers.reserve(100);
  std::thread writer([] {
    for (int i = 0; i < 50; ++i) {
      std::lock_guard<std::mutex> guard(mutex);
      numbers.push_back(i);  // RACE
    }
  });
  std::thread reader([] {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    const std::size_t size = numbers.size();  // RACE
    long sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += numbers[i];  // RACE
    use(sum);
  });
  writer.join();
  reader.join();
  return 0;
}
