// A counter is changed under a lock that is held for reading.
#include <mutex>
#include <shared_mutex>

#include "twin.h"

static std::shared_mutex mutex;
static long lookups;

static void* body(void*) {
  for (int i = 0; i < 10; ++i) {
#if RACY
    const std::shared_lock<std::shared_mutex> guard(mutex);
#else
    const std::unique_lock<std::shared_mutex> guard(mutex);
#endif
    lookups++;  // RACE
  }
  return nullptr;
}

int main() {
  run_threads(3, body);
  return lookups > 0 ? 0 : 1;
}
