// std::shared_mutex: the write lock is given up and the read lock taken; what was written may have
// been replaced.
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "planted.h"

static std::shared_mutex mutex;
static int owner;

static void own(int number) {
  std::unique_lock<std::shared_mutex> writing(mutex);
  owner = number;
  FIX(REQUIRE(owner == number); return;)
  writing.unlock();
  std::shared_lock<std::shared_mutex> reading(mutex);
  REQUIRE(owner == number);
}

int main() {
  std::thread a(own, 1), b(own, 2);
  a.join();
  b.join();
  return 0;
}
