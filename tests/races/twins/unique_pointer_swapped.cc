// Two buffers are swapped by their unique pointers while a thread reads the front one.
#include <memory>
#include <mutex>
#include <thread>

#include "twin.h"

static std::unique_ptr<int> front = std::make_unique<int>(1), back = std::make_unique<int>(2);
static std::mutex mutex;

int main() {
  std::thread thread([] {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    use(*front);  // RACE
  });
  {
    std::scoped_lock lock(mutex);
    std::swap(front, back);  // RACE
  }
  thread.join();
  return 0;
}
