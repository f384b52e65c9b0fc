// The shared_ptr object is swapped and copied under a mutex; the copies are each thread's own.
#include "program.h"

#include <memory>
#include <mutex>
#include <thread>

auto current = std::make_shared<int>(1);
std::mutex mutex;

int main() {
  std::thread writer([] {
    for (int i = 0; i < 20; ++i) {
      auto next = std::make_shared<int>(i);
      std::lock_guard<std::mutex> lock(mutex);
      current.swap(next);
      usleep(50);
    }
  });
  for (int i = 0; i < 20; ++i) {
    std::unique_lock<std::mutex> lock(mutex);
    auto copy = current;
    lock.unlock();
    use(*copy);
    usleep(50);
  }
  writer.join();
  return 0;
}
