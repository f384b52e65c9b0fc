// std::shared_mutex held exclusively to advance the revision, shared to read it.
#include "program.h"

#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex mutex;
int revision;

int main() {
  auto writer = [] {
    for (int i = 0; i < 100; ++i) {
      std::unique_lock<std::shared_mutex> lock(mutex);
      revision += i;
    }
  };
  std::thread one(writer), two(writer);
  for (int i = 0; i < 50; ++i) {
    std::shared_lock<std::shared_mutex> lock(mutex);
    use(revision);
  }
  one.join();
  two.join();
  return 0;
}
