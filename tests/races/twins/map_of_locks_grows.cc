// Each name has a lock, which is made in a map when it is first asked for; another asks for how
// many.
#include "twin.h"

#include <map>
#include <mutex>
#include <string>
#include <thread>

static std::mutex of_map;
static std::map<std::string, std::mutex> locks;
static long sum;

int main() {
  std::thread adder([] {
    for (const char* const name : {"one", "two", "three"}) {
      std::unique_lock<std::mutex> guard(of_map);
      std::mutex& mutex = locks[name];  // RACE
      guard.unlock();
      const std::lock_guard<std::mutex> of_name(mutex);
      sum += 1;
    }
  });
  std::thread counter([] {
    std::unique_lock<std::mutex> guard(of_map, std::defer_lock);
    if (!RACY) guard.lock();
    use(static_cast<long>(locks.size()));  // RACE
  });
  adder.join();
  counter.join();
  use(sum);
  return 0;
}
