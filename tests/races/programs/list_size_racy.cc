// The length of a std::list is read without the lock under which it grows.
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
      queue.push_back(i);  // RACE
    }
  });
  for (int i = 0; i < 30; ++i) use((long)queue.size());  // RACE
  producer.join();
  return 0;
}
