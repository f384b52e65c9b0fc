// A three-way comparison reads both objects.
#include <compare>
#include <mutex>
#include <thread>

#include "twin.h"

struct Version {
  int major_ = 1, minor_ = 2, patch = 3;
  friend auto operator<=>(const Version&, const Version&) = default;  // RACE
};
static Version current;
static std::mutex mutex;

int main() {
  std::thread thread([] {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (!RACY) lock.lock();
    use(current < Version{1, 2, 4});  // RACE
  });
  {
    std::scoped_lock lock(mutex);
    current.patch = 9;  // RACE
  }
  thread.join();
  return 0;
}
