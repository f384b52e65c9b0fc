// The deleter of what one thread drops last counts in what another thread reads.
#include <memory>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static int deleted;

static void* drop(void* unused) {
  {
    const std::shared_ptr<int> value(new int(3), [](int* pointer) {
      std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
      if (!RACY) guard.lock();
      deleted++;  // RACE
      delete pointer;
    });
    use(*value);
  }
  return unused;
}

static void* look(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(deleted);  // RACE
  return unused;
}

int main() {
  run_two(drop, look);
  return 0;
}
