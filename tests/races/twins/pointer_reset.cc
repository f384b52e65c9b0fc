// What a unique_ptr holds is replaced while another thread looks at it.
#include <memory>
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static std::unique_ptr<int> current = std::make_unique<int>(1);

static void* replace(void* unused) {
  auto next = std::make_unique<int>(2);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  current.swap(next);  // RACE
  pause_ms(RACY ? 20 : 0);
  return unused;
}

static void* look(void* unused) {
  pause_ms(5);
  std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
  if (!RACY) guard.lock();
  use(current ? 1 : 0);  // RACE
  return unused;
}

int main() {
  run_two(replace, look);
  return 0;
}
