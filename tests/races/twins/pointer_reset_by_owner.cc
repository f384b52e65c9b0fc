// A shared_ptr is replaced by one thread and copied by another; the object is never changed.
#include "twin.h"

#include <memory>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::shared_ptr<const int> current = std::make_shared<const int>(1);

static std::shared_ptr<const int> get() {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  return current;  // RACE
}

int main() {
  std::thread owner([] {
    for (int i = 0; i < 5; ++i) {
      std::shared_ptr<const int> next = std::make_shared<const int>(i);
      std::lock_guard<std::mutex> guard(mutex);
      current.swap(next);  // RACE
    }
  });
  std::thread user([] { use(*get()); });
  owner.join();
  user.join();
  return 0;
}
