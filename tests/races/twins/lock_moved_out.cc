// A lock is moved into an object that ends before the section does.
#include "twin.h"

#include <mutex>
#include <utility>

static std::mutex mutex;
static int value;

struct Holder {
  std::unique_lock<std::mutex> lock;
};

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  std::unique_lock<std::mutex> lock(mutex);
  {
    Holder holder{std::move(lock)};
    value += 1;
    if (!RACY) lock = std::move(holder.lock);
  }
  value += 1;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(value);
  return 0;
}
