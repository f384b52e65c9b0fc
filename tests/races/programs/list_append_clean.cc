// The writer appends to a list of its own and splices it over under the lock.
#include "program.h"

#include <list>
#include <mutex>
#include <thread>

std::list<int> numbers;
std::mutex mutex;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 40; ++i) {
      std::list<int> own{i};
      std::lock_guard<std::mutex> lock(mutex);
      numbers.splice(numbers.end(), own);
      usleep(50);
    }
  });
  for (int i = 0; i < 40; ++i) {
    std::lock_guard<std::mutex> lock(mutex);
    use(numbers.size());
    usleep(50);
  }
  writer.join();
  return 0;
}
