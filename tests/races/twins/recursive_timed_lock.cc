// A recursive timed mutex, taken as often as it is given back.
#include <chrono>
#include <mutex>
#include <thread>

#include "twin.h"

static std::recursive_timed_mutex mutex;
static int depth;

static void down(int level) {
  const bool got = RACY ? level > 0 : mutex.try_lock_for(std::chrono::seconds(5));
  depth += level;  // RACE
  if (level > 0) down(level - 1);
  if (got && !RACY) mutex.unlock();
}

int main() {
  std::thread one(down, 2), two(down, 3);
  one.join();
  two.join();
  use(depth);
  return 0;
}
