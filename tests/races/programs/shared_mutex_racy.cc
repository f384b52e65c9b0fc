// std::shared_mutex held shared while a revision is advanced.
#include "program.h"

#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int revision;

int main() {
  auto writer = [] {
    for (int i = 0; i < 100; ++i) {
      std::shared_lock<std::shared_mutex> lock(mutex);
      revision += i;  // RACE
    }
  };
  std::thread one(writer), two(writer);
  for (int i = 0; i < 50; ++i) {
    std::shared_lock<std::shared_mutex> lock(mutex);
    use(revision);  // RACE
  }
  one.join();
  two.join();
  return 0;
}
