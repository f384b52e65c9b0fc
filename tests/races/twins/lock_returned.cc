// A function returns the lock that it has taken; the racy caller drops it.
#include "twin.h"

#include <mutex>

static std::mutex mutex;
static int value;

static std::unique_lock<std::mutex> locked() { return std::unique_lock<std::mutex>(mutex); }

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
#if RACY
  locked();
  value += 1;  // RACE
#else
  auto lock = locked();
  value += 1;
#endif
  return nullptr;
}

int main() {
  run_threads(2, body);
  use(value);
  return 0;
}
