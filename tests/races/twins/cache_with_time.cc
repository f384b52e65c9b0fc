// An entry of a cache is read under a lock for readers, which also notes the time.
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "twin.h"

struct Entry {
  int value = 3;
  long at = 0;
};
static Entry entry;
static std::shared_mutex mutex;

static void look(long now) {
#if RACY
  const std::shared_lock<std::shared_mutex> lock(mutex);
#else
  const std::unique_lock<std::shared_mutex> lock(mutex);
#endif
  use(entry.value);
  entry.at = now;  // RACE
}

int main() {
  std::thread one(look, 1), other(look, 2);
  one.join();
  other.join();
  return 0;
}
