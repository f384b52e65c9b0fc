// A weak_ptr is assigned by one thread and locked by another.
#include "twin.h"

#include <memory>
#include <mutex>

static std::mutex mutex;
static std::shared_ptr<int> one = std::make_shared<int>(1), two = std::make_shared<int>(2);
static std::weak_ptr<int> observer = one;

static void* writer(void*) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  observer = two;  // RACE
  return nullptr;
}

static void* reader(void*) {
  pause_ms(5);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  const std::shared_ptr<int> held = observer.lock();  // RACE
  use(held ? *held : 0);
  return nullptr;
}

int main() {
  run_two(writer, reader);
  return 0;
}
