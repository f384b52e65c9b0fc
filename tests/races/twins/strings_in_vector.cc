// One thread changes an element of a vector of strings, the other copies the element.
#include <mutex>
#include <string>
#include <vector>

#include "twin.h"

static std::mutex mutex;
static std::vector<std::string> names{"a", "b", "c"};

static void* change(void* unused) {
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  names[1] = "other";  // RACE
  return unused;
}

static void* take(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  const std::string copy = names[1];  // RACE
  use(static_cast<long>(copy.size()));
  return unused;
}

int main() {
  run_two(change, take);
  return 0;
}
