// Readers share a lock; a count of hits needs an atomic.
#include <atomic>
#include <map>
#include <shared_mutex>
#include <thread>

#include "twin.h"

static std::shared_mutex mutex;
static std::map<int, int> table{{1, 2}, {3, 4}};
static int hits;
static std::atomic<int> counted;

static void body() {
  for (int i = 0; i < 6; ++i) {
    std::shared_lock lock(mutex);
    if (table.find(i) == table.end()) continue;
    if (RACY) hits++;  // RACE
    else counted++;
  }
}

int main() {
  std::thread one(body), two(body);
  one.join();
  two.join();
  use(hits + counted);
  return 0;
}
