// A std::unique_lock that is made with defer_lock is locked later, or never.
#include "twin.h"

#include <mutex>

static std::mutex mutex;
static int value;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  if (!RACY) lock.lock();
  value += 1;  // RACE
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(value);
  return 0;
}
