// A watcher asks for the size of a vector under the lock under which it grows.
#include "program.h"

#include <mutex>
#include <thread>
#include <vector>

std::vector<long> items;
std::mutex mutex;

int main() {
  std::thread grower([] {
    for (int i = 0; i < 100; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      items.push_back(i);
    }
    pause_ms(2);
  });
  for (int i = 0; i < 20; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    use(items.size());
  }
  grower.join();
  return 0;
}
