// A line is appended to under a lock, and its length asked for without it.
#include "twin.h"

#include <mutex>
#include <string>
#include <thread>

static std::mutex mutex;
static std::string line;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 20; ++i) {
      const std::lock_guard<std::mutex> guard(mutex);
      line += "word ";  // RACE
    }
  });
  std::thread reader([] {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    if (!RACY) guard.lock();
    use(static_cast<long>(line.size()));  // RACE
    use(line.empty());                    // RACE
  });
  writer.join();
  reader.join();
  return 0;
}
