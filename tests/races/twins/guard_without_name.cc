// A guard without a name is gone before the statement that it should guard.
#include <mutex>

#include "twin.h"

static std::mutex mutex;
static int total;

static void* body(void*) {
  for (int i = 0; i < 10; ++i) {
#if RACY
    std::unique_lock<std::mutex>{mutex};
#else
    const std::unique_lock<std::mutex> guard{mutex};
#endif
    total += i;  // RACE
  }
  return nullptr;
}

int main() {
  run_threads(2, body);
  return total > 0 ? 0 : 1;
}
