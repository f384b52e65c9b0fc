// The list is spliced into a local one under the lock, and read after that without.
#include "program.h"

#include <list>
#include <mutex>
#include <thread>

std::list<int> queue;
std::mutex mutex;

int main() {
  std::thread producer([] {
    for (int i = 0; i < 30; ++i) {
      std::lock_guard<std::mutex> lock(mutex);
      queue.push_back(i);
    }
  });
  std::list<int> mine;
  {
    std::lock_guard<std::mutex> lock(mutex);
    mine.splice(mine.end(), queue);
  }
  for (int number : mine) use(number);
  producer.join();
  return 0;
}
