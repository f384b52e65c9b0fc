// A node goes from one map to another while a thread looks it up.
#include <map>
#include <mutex>
#include <thread>

#include "twin.h"

int main() {
  std::map<int, int> table, other;
  std::mutex mutex;
  for (int i = 0; i < 8; ++i) table[i] = i;
  std::thread thread([&] {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    use(static_cast<long>(table.size()));  // RACE
  });
  {
    std::scoped_lock lock(mutex);
    other.insert(table.extract(3));  // RACE
  }
  thread.join();
  return 0;
}
