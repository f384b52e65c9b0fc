// An unordered_map grows in one thread while another counts a key in it.
#include "twin.h"

#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>

static std::shared_mutex mutex;
static std::unordered_map<int, int> table;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 30; ++i) {
      const std::unique_lock<std::shared_mutex> lock(mutex);
      table[i] = i;  // RACE
    }
  });
  std::thread reader([] {
    std::shared_lock<std::shared_mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    use(static_cast<long>(table.count(5)));  // RACE
  });
  writer.join();
  reader.join();
  return 0;
}
