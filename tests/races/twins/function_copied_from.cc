// A std::function is copied while it is replaced.
#include "twin.h"

#include <functional>
#include <mutex>

static std::mutex mutex;
static std::function<int()> task = [] { return 1; };

static void* copier(void*) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  const std::function<int()> mine = task;  // RACE
  if (lock) lock.unlock();
  use(mine());
  return nullptr;
}

static void* replacer(void*) {
  pause_ms(5);
  int captured[6] = {1, 2, 3};
  std::function<int()> next = [captured] { return captured[1]; };
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  task.swap(next);  // RACE
  return nullptr;
}

int main() {
  run_two(copier, replacer);
  return 0;
}
