// A variant is given another type while it is visited.
#include "twin.h"

#include <mutex>
#include <variant>

static std::mutex mutex;
static std::variant<int, double> value = 1;

static void* writer(void*) {
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  value = 2.5;  // RACE
  return nullptr;
}

static void* reader(void*) {
  pause_ms(5);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  use(std::visit([](auto one) { return (long)one; }, value));  // RACE
  return nullptr;
}

int main() {
  run_two(writer, reader);
  return 0;
}
