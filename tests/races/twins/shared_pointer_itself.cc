// One shared pointer is assigned by one thread and copied by another one.
#include <memory>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::shared_ptr<int> current = std::make_shared<int>(1);

static void* assign(void*) {
  auto made = std::make_shared<int>(2);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  current = made;  // RACE
  return nullptr;
}

static void* copy(void*) {
  pause_ms(10);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  const std::shared_ptr<int> mine = current;  // RACE
  use(*mine);
  return nullptr;
}

int main() {
  run_two(assign, copy);
  return 0;
}
