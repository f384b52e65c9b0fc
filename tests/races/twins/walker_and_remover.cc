// A list is walked without the lock under which another thread takes a node out.
#include <list>
#include <mutex>
#include <thread>

#include "twin.h"

static std::list<int> list{1, 2, 3, 4, 5, 6};
static std::mutex mutex;

static void walk() {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  long sum = 0;
  for (const int value : list) sum += value;  // RACE
  use(sum);
}

static void grow() {
  pause_ms(2);
  const std::lock_guard<std::mutex> lock(mutex);
  list.push_back(7);  // RACE
}

int main() {
  std::thread one(walk), other(grow);
  one.join();
  other.join();
  return 0;
}
